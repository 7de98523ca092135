-- Former versions of memories that were edited. The newest version is in `memories`; deleting that deletes these.
-- `content` is sealed: the whole memory as it was.
CREATE TABLE memory_versions (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    memory_id   bytea NOT NULL CHECK (octet_length(memory_id) = 16),
    version     integer NOT NULL CHECK (version >= 1),
    replaced_at bigint NOT NULL CHECK (replaced_at >= 0),
    content     bytea NOT NULL CHECK (octet_length(content) > 0),
    PRIMARY KEY (owner, memory_id, version),
    FOREIGN KEY (owner, memory_id) REFERENCES memories (owner, id) ON DELETE CASCADE
);

ALTER TABLE memory_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON memory_versions
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
