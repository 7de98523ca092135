-- Former versions of memories that were edited. The newest version is in `memories`; deleting that deletes these.
-- `content` is sealed: the whole memory as it was.
CREATE TABLE memory_versions (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    memory_id   BLOB    NOT NULL CHECK (length(memory_id) = 16),
    version     INTEGER NOT NULL CHECK (version >= 1),
    replaced_at INTEGER NOT NULL CHECK (replaced_at >= 0),
    content     BLOB    NOT NULL CHECK (length(content) > 0),
    PRIMARY KEY (owner, memory_id, version),
    FOREIGN KEY (owner, memory_id) REFERENCES memories (owner, id) ON DELETE CASCADE
) STRICT;
