-- Vectors of memories, sealed like their text, one for each space: a model and its dimension.

-- How far the vectors of a persona have come. `vector_space` is the one that its memories are embedded in: all up to the
-- number `embedded_to` are, and later ones may be. `vector_stamp` grows with every change of its vectors, of which
-- `vectors_removed` is the last that took any away. Until `embed_after` a worker is at it.
ALTER TABLE persona_memory_configs
    ADD COLUMN vector_space text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN embedded_to bigint NOT NULL DEFAULT 0 CHECK (embedded_to >= 0),
    ADD COLUMN vector_stamp bigint NOT NULL DEFAULT 0 CHECK (vector_stamp >= 0),
    ADD COLUMN vectors_removed bigint NOT NULL DEFAULT 0 CHECK (vectors_removed >= 0),
    ADD COLUMN embed_after bigint NOT NULL DEFAULT 0 CHECK (embed_after >= 0);

-- What a worker looks for: memories that wait for a vector, and personas of another space.
CREATE INDEX persona_memory_configs_to_embed
ON persona_memory_configs (embed_after, owner, persona_id) WHERE last_number > embedded_to;
CREATE INDEX persona_memory_configs_by_space ON persona_memory_configs (vector_space, embed_after);

CREATE TABLE memory_vectors (
    owner      text COLLATE "C" NOT NULL,
    space      text COLLATE "C" NOT NULL CHECK (length(space) BETWEEN 1 AND 128),
    persona_id text COLLATE "C" NOT NULL CHECK (length(persona_id) BETWEEN 1 AND 128),
    number     bigint NOT NULL CHECK (number >= 1),
    memory_id  bytea NOT NULL,
    version    bigint NOT NULL CHECK (version >= 1), -- the version of the memory that was embedded
    archived   smallint NOT NULL CHECK (archived IN (0, 1)),
    stamp      bigint NOT NULL CHECK (stamp >= 1),
    vector     bytea NOT NULL CHECK (octet_length(vector) > 0),
    PRIMARY KEY (owner, space, persona_id, number),
    FOREIGN KEY (owner, memory_id) REFERENCES memories (owner, id)
);

CREATE INDEX memory_vectors_by_stamp ON memory_vectors (owner, space, persona_id, stamp, number);
CREATE INDEX memory_vectors_by_memory ON memory_vectors (owner, memory_id);

ALTER TABLE memory_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON memory_vectors
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

-- The door across owners: a worker finds and claims personas whose memories wait. They hold counts, and no content.
CREATE POLICY worker_sees ON persona_memory_configs FOR SELECT USING (current_setting('gieok.worker', true) = 'on');
CREATE POLICY worker_claims ON persona_memory_configs FOR UPDATE USING (current_setting('gieok.worker', true) = 'on');
