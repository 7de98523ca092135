-- What was asked before, what is still to be told, and how far the search indexes are made anew.

-- A request that the client named, so that asking again answers the same thing. `key` and `body`
-- are keyed hashes; `answer` is the id of what was made.
CREATE TABLE requests (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    key        BLOB    NOT NULL CHECK (length(key) = 32),
    body       BLOB    NOT NULL CHECK (length(body) = 32),
    answer     TEXT    NOT NULL CHECK (length(answer) BETWEEN 1 AND 128),
    expires_at INTEGER NOT NULL CHECK (expires_at >= 0),
    PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_by_expiry ON requests (owner, expires_at);

-- Something to tell the user in their next turn with a persona. `kind` names a text that Gieok has; no content.
CREATE TABLE notices (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    persona_id TEXT    NOT NULL CHECK (length(persona_id) BETWEEN 1 AND 128),
    kind       TEXT    NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    created_at INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, persona_id, kind)
) STRICT, WITHOUT ROWID;

-- Which analyzer a search index is made anew for, and where to go on: NULL when all of it is made.
CREATE TABLE search_indexes (
    owner    TEXT NOT NULL REFERENCES owners (owner),
    name     TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    analyzer TEXT NOT NULL CHECK (length(analyzer) BETWEEN 1 AND 64),
    position BLOB,
    PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;
