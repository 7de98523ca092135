-- The audit trail is a chain: each entry has a number, and a keyed hash of itself and of the entry before. Entries of
-- older versions and imported entries have neither.

ALTER TABLE audit_entries ADD COLUMN number bigint CHECK (number >= 1);
ALTER TABLE audit_entries ADD COLUMN hash bytea CHECK (octet_length(hash) = 32);
CREATE UNIQUE INDEX audit_entries_by_number ON audit_entries (owner, number) WHERE number IS NOT NULL;

-- The newest entry, so that its removal is detected too.
CREATE TABLE audit_heads (
    owner  text COLLATE "C" NOT NULL REFERENCES owners (owner),
    number bigint NOT NULL CHECK (number >= 0),
    hash   bytea NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (owner)
);

ALTER TABLE audit_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON audit_heads
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
