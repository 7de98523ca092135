-- Who may call the service, and what was done to an owner as a whole. No content in either.

-- `hash` is SHA-256 of a token of 256 random bits; the token itself is not kept. `scopes` is a sorted list with blanks.
CREATE TABLE tokens (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id         bytea NOT NULL CHECK (octet_length(id) = 16),
    hash       bytea NOT NULL CHECK (octet_length(hash) = 32),
    plan       text NOT NULL CHECK (plan IN ('free', 'premium')),
    scopes     text NOT NULL CHECK (length(scopes) BETWEEN 1 AND 256),
    label      text COLLATE "C" CHECK (length(label) BETWEEN 1 AND 128),
    created_at bigint NOT NULL CHECK (created_at >= 0),
    expires_at bigint CHECK (expires_at >= 0), -- NULL: never
    revoked_at bigint CHECK (revoked_at >= 0), -- NULL while it is in force
    PRIMARY KEY (owner, id)
);

CREATE UNIQUE INDEX tokens_by_hash ON tokens (hash);
CREATE INDEX tokens_by_id ON tokens (id);

-- `subject` is an id, never a text of the owner's.
CREATE TABLE audit_entries (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id         bytea NOT NULL CHECK (octet_length(id) = 16),
    at         bigint NOT NULL CHECK (at >= 0),
    action     text NOT NULL CHECK (length(action) BETWEEN 1 AND 64),
    subject    text COLLATE "C" CHECK (length(subject) BETWEEN 1 AND 128),
    PRIMARY KEY (owner, id)
);

CREATE INDEX audit_entries_by_time ON audit_entries (owner, at DESC, id);

ALTER TABLE tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON tokens
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE audit_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_entries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON audit_entries
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

-- The door across owners: the service finds a token by its hash, an operator lists them. It changes none.
CREATE POLICY door_sees ON tokens FOR SELECT USING (current_setting('gieok.worker', true) = 'on');
