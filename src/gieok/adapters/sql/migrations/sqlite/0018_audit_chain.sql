-- The audit trail is a chain: each entry has a number, and a keyed hash of itself and of the entry before. Entries of
-- older versions and imported entries have neither.

ALTER TABLE audit_entries ADD COLUMN number INTEGER CHECK (number >= 1);
ALTER TABLE audit_entries ADD COLUMN hash BLOB CHECK (length(hash) = 32);
CREATE UNIQUE INDEX audit_entries_by_number ON audit_entries (owner, number) WHERE number IS NOT NULL;

-- The newest entry, so that its removal is detected too.
CREATE TABLE audit_heads (
    owner  TEXT    NOT NULL REFERENCES owners (owner),
    number INTEGER NOT NULL CHECK (number >= 0),
    hash   BLOB    NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (owner)
) STRICT, WITHOUT ROWID;
