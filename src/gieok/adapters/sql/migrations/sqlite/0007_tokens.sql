-- Who may call the service, and what was done to an owner as a whole. No content in either.

-- `hash` is SHA-256 of a token of 256 random bits; the token itself is not kept. `scopes` is a sorted list with blanks.
CREATE TABLE tokens (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    hash       BLOB    NOT NULL CHECK (length(hash) = 32),
    plan       TEXT    NOT NULL CHECK (plan IN ('free', 'premium')),
    scopes     TEXT    NOT NULL CHECK (length(scopes) BETWEEN 1 AND 256),
    label      TEXT    CHECK (length(label) BETWEEN 1 AND 128),
    created_at INTEGER NOT NULL CHECK (created_at >= 0),
    expires_at INTEGER CHECK (expires_at >= 0), -- NULL: never
    revoked_at INTEGER CHECK (revoked_at >= 0), -- NULL while it is in force
    PRIMARY KEY (owner, id)
) STRICT;

CREATE UNIQUE INDEX tokens_by_hash ON tokens (hash);
CREATE INDEX tokens_by_id ON tokens (id);

-- `subject` is an id, never a text of the owner's.
CREATE TABLE audit_entries (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    at         INTEGER NOT NULL CHECK (at >= 0),
    action     TEXT    NOT NULL CHECK (length(action) BETWEEN 1 AND 64),
    subject    TEXT    CHECK (length(subject) BETWEEN 1 AND 128),
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_entries_by_time ON audit_entries (owner, at DESC, id);
