-- Vectors of messages, sealed like their text and bound to their place, in one space: a message has at most one.
-- `vector_stamp` is the stamp of the persona's vectors (0009) at which it was saved.

ALTER TABLE messages ADD COLUMN vector_space TEXT CHECK (length(vector_space) BETWEEN 1 AND 128);
ALTER TABLE messages ADD COLUMN vector_stamp INTEGER CHECK (vector_stamp >= 1);
ALTER TABLE messages ADD COLUMN vector BLOB CHECK (length(vector) > 0);
CREATE INDEX messages_by_vector ON messages (owner, persona_id, vector_space, vector_stamp, number)
WHERE vector_space IS NOT NULL;

-- All messages of the persona up to this number have a vector, or need none.
ALTER TABLE persona_memory_configs ADD COLUMN messages_embedded_to INTEGER NOT NULL DEFAULT 0 CHECK (messages_embedded_to >= 0);
CREATE INDEX persona_memory_configs_messages_to_embed
ON persona_memory_configs (owner, persona_id) WHERE last_entry > messages_embedded_to;
