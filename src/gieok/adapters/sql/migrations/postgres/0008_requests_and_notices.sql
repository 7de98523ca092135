-- What was asked before, what is still to be told, and how far the search indexes are made anew.

-- A request that the client named, so that asking again answers the same thing. `key` and `body`
-- are keyed hashes; `answer` is the id of what was made.
CREATE TABLE requests (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    key        bytea NOT NULL CHECK (octet_length(key) = 32),
    body       bytea NOT NULL CHECK (octet_length(body) = 32),
    answer     text COLLATE "C" NOT NULL CHECK (length(answer) BETWEEN 1 AND 128),
    expires_at bigint NOT NULL CHECK (expires_at >= 0),
    PRIMARY KEY (owner, key)
);

CREATE INDEX requests_by_expiry ON requests (owner, expires_at);

-- Something to tell the user in their next turn with a persona. `kind` names a text that Gieok has; no content.
CREATE TABLE notices (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    persona_id text COLLATE "C" NOT NULL CHECK (length(persona_id) BETWEEN 1 AND 128),
    kind       text NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    created_at bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, persona_id, kind)
);

-- Which analyzer a search index is made anew for, and where to go on: NULL when all of it is made.
CREATE TABLE search_indexes (
    owner    text COLLATE "C" NOT NULL REFERENCES owners (owner),
    name     text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    analyzer text NOT NULL CHECK (length(analyzer) BETWEEN 1 AND 64),
    position bytea,
    PRIMARY KEY (owner, name)
);

ALTER TABLE requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE requests FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON requests
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE notices ENABLE ROW LEVEL SECURITY;
ALTER TABLE notices FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON notices
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE search_indexes ENABLE ROW LEVEL SECURITY;
ALTER TABLE search_indexes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON search_indexes
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
