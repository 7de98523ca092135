-- Canon: how the active versions of personas and facts are found. The versions are chains.

-- The version is the active one: an author's edit moves it, and nothing else does.
CREATE TABLE persona_heads (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    persona_id TEXT    NOT NULL CHECK (length(persona_id) BETWEEN 1 AND 128),
    root_id    BLOB    NOT NULL CHECK (length(root_id) = 16),
    version    INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, persona_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX persona_heads_by_time ON persona_heads (owner, created_at, persona_id);

-- One row for each persona, category and key, which `key_token` stands for: a token of the blind index, so that
-- a fact exists once. Standing is 0 for a retired fact, 1 for an active one, 2 for an active one that is state.
CREATE TABLE fact_heads (
    owner         TEXT    NOT NULL REFERENCES owners (owner),
    key_token     INTEGER NOT NULL,
    persona_token INTEGER NOT NULL,
    root_id       BLOB    NOT NULL CHECK (length(root_id) = 16),
    version       INTEGER NOT NULL CHECK (version >= 1),
    standing      INTEGER NOT NULL CHECK (standing BETWEEN 0 AND 2),
    importance    INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    updated_at    INTEGER NOT NULL CHECK (updated_at >= 0),
    PRIMARY KEY (owner, key_token),
    UNIQUE (owner, root_id)
) STRICT, WITHOUT ROWID;

-- In the order of the state block.
CREATE INDEX fact_heads_by_standing
ON fact_heads (owner, persona_token, standing, importance DESC, updated_at DESC, root_id, version);
