-- Canon: how the active versions of personas and facts are found. The versions are chains.

-- The version is the active one: an author's edit moves it, and nothing else does.
CREATE TABLE persona_heads (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    persona_id text COLLATE "C" NOT NULL CHECK (length(persona_id) BETWEEN 1 AND 128),
    root_id    bytea NOT NULL CHECK (octet_length(root_id) = 16),
    version    integer NOT NULL CHECK (version >= 1),
    created_at bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, persona_id)
);

CREATE INDEX persona_heads_by_time ON persona_heads (owner, created_at, persona_id);

-- One row for each persona, category and key, which `key_token` stands for: a token of the blind index, so that
-- a fact exists once. Standing is 0 for a retired fact, 1 for an active one, 2 for an active one that is state.
CREATE TABLE fact_heads (
    owner         text COLLATE "C" NOT NULL REFERENCES owners (owner),
    key_token     bigint NOT NULL,
    persona_token bigint NOT NULL,
    root_id       bytea NOT NULL CHECK (octet_length(root_id) = 16),
    version       integer NOT NULL CHECK (version >= 1),
    standing      smallint NOT NULL CHECK (standing BETWEEN 0 AND 2),
    importance    smallint NOT NULL CHECK (importance BETWEEN 1 AND 10),
    updated_at    bigint NOT NULL CHECK (updated_at >= 0),
    PRIMARY KEY (owner, key_token),
    UNIQUE (owner, root_id)
);

-- In the order of the state block.
CREATE INDEX fact_heads_by_standing
ON fact_heads (owner, persona_token, standing, importance DESC, updated_at DESC, root_id, version);

ALTER TABLE persona_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE persona_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON persona_heads
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE fact_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON fact_heads
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
