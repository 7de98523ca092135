-- Vectors of memories and messages. They are changed only while their persona is locked. The number of a message is
-- that of the index, where messages come after all memories: 2^48 is added.

-- name: get_vector_revision(owner, persona_id)^
SELECT vector_stamp, vectors_removed FROM persona_memory_configs WHERE owner = :owner AND persona_id = :persona_id;

-- name: list_newest_vectors(owner, space, persona_id, before, limit)
SELECT number, stamp, archived, memory_id, version, vector
FROM memory_vectors
WHERE owner = :owner AND space = :space AND persona_id = :persona_id AND number < :before
UNION ALL
SELECT number + 281474976710656, vector_stamp, 0, NULL, 1, vector
FROM messages
WHERE owner = :owner AND vector_space = :space AND persona_id = :persona_id AND number < :before - 281474976710656
ORDER BY 1 DESC
LIMIT :limit;

-- name: list_vectors_since(owner, space, persona_id, stamp, number, limit)
SELECT number, stamp, archived, memory_id, version, vector
FROM memory_vectors
WHERE owner = :owner AND space = :space AND persona_id = :persona_id AND (stamp, number) > (:stamp, :number)
UNION ALL
SELECT number + 281474976710656, vector_stamp, 0, NULL, 1, vector
FROM messages
WHERE
    owner = :owner AND vector_space = :space AND persona_id = :persona_id
    AND (vector_stamp, number) > (:stamp, :number - 281474976710656)
ORDER BY 2, 1
LIMIT :limit;

-- name: list_vector_numbers(owner, space, persona_id)
SELECT number FROM memory_vectors WHERE owner = :owner AND space = :space AND persona_id = :persona_id
UNION ALL
SELECT number + 281474976710656 FROM messages WHERE owner = :owner AND vector_space = :space AND persona_id = :persona_id;

-- name: list_personas_to_embed(owner, space, limit)
SELECT persona_id
FROM persona_memory_configs
WHERE
    owner = :owner
    AND (last_number > embedded_to OR last_entry > messages_embedded_to OR vector_space <> :space)
ORDER BY persona_id
LIMIT :limit;

-- name: begin_vector_space(owner, persona_id, space)!
-- 0 rows if it is the persona's space already.
UPDATE persona_memory_configs SET vector_space = :space, embedded_to = 0, messages_embedded_to = 0
WHERE owner = :owner AND persona_id = :persona_id AND vector_space <> :space;

-- name: get_vector_progress(owner, persona_id)^
SELECT vector_space, embedded_to, last_number, vector_stamp, vectors_removed, messages_embedded_to, last_entry
FROM persona_memory_configs
WHERE owner = :owner AND persona_id = :persona_id;

-- name: list_unembedded_memories(owner, persona_id, space, after, limit)
-- By number, from the first memory that may have no vector.
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE
    owner = :owner AND persona_id = :persona_id AND number > :after
    AND NOT EXISTS (
        SELECT 1
        FROM memory_vectors
        WHERE
            memory_vectors.owner = :owner AND memory_vectors.space = :space
            AND memory_vectors.persona_id = :persona_id AND memory_vectors.number = memories.number
    )
ORDER BY number
LIMIT :limit;

-- name: list_unembedded_messages(owner, persona_id, space, after, limit)
-- By number, from the first message that may have no vector. Messages that must not be found have empty terms.
SELECT session_ref, seq, id, role, at, content, details, number
FROM messages
WHERE
    owner = :owner AND persona_id = :persona_id AND number > :after AND length(terms) > 0
    AND (vector_space IS NULL OR vector_space <> :space)
ORDER BY number
LIMIT :limit;

-- name: set_message_vector(owner, space, persona_id, number, stamp, vector)!
-- 0 rows if the message was deleted, or if another worker has saved its vector.
UPDATE messages SET vector_space = :space, vector_stamp = :stamp, vector = :vector
WHERE
    owner = :owner AND persona_id = :persona_id AND number = :number
    AND (vector_space IS NULL OR vector_space <> :space);

-- name: add_vector(owner, space, persona_id, number, memory_id, version, stamp, vector)!
-- 0 rows if the memory was deleted or changed since it was embedded, or if another worker has saved its vector.
INSERT INTO memory_vectors (owner, space, persona_id, number, memory_id, version, archived, stamp, vector)
SELECT :owner, :space, :persona_id, :number, id, version, CASE WHEN archived_at IS NULL THEN 0 ELSE 1 END, :stamp, :vector
FROM memories
WHERE owner = :owner AND id = :memory_id AND version = :version
ON CONFLICT (owner, space, persona_id, number) DO NOTHING;

-- name: set_vector_progress(owner, persona_id, embedded_to, messages_embedded_to, vector_stamp, vectors_removed)!
UPDATE persona_memory_configs
SET
    embedded_to = :embedded_to,
    messages_embedded_to = :messages_embedded_to,
    vector_stamp = :vector_stamp,
    vectors_removed = :vectors_removed
WHERE owner = :owner AND persona_id = :persona_id;

-- name: remove_other_spaces(owner, persona_id, space)!
DELETE FROM memory_vectors
WHERE owner = :owner AND (space < :space OR space > :space) AND persona_id = :persona_id;

-- name: remove_vectors_of(owner, memory_id)!
DELETE FROM memory_vectors WHERE owner = :owner AND memory_id = :memory_id;

-- name: set_vectors_archived(owner, persona_id, memory_id, archived)!
UPDATE memory_vectors
SET
    archived = :archived,
    stamp = (
        SELECT vector_stamp + 1
        FROM persona_memory_configs
        WHERE persona_memory_configs.owner = :owner AND persona_memory_configs.persona_id = :persona_id
    )
WHERE owner = :owner AND memory_id = :memory_id;

-- name: count_vector_change(owner, persona_id)!
UPDATE persona_memory_configs SET vector_stamp = vector_stamp + 1 WHERE owner = :owner AND persona_id = :persona_id;

-- name: count_vector_removal(owner, persona_id, embedded_to)!
-- Memories after this number may have no vector.
UPDATE persona_memory_configs
SET
    vector_stamp = vector_stamp + 1,
    vectors_removed = vector_stamp + 1,
    embedded_to = CASE WHEN embedded_to > :embedded_to THEN :embedded_to ELSE embedded_to END
WHERE owner = :owner AND persona_id = :persona_id;

-- name: list_vector_seals(owner, after, limit)
-- The next memories by id, each with all of its vectors.
SELECT memory_id, space, persona_id, number, version, vector
FROM memory_vectors
WHERE
    owner = :owner AND memory_id IN (
        SELECT memory_id
        FROM memory_vectors
        WHERE owner = :owner AND memory_id > :after
        GROUP BY memory_id
        ORDER BY memory_id
        LIMIT :limit
    )
ORDER BY memory_id;

-- name: replace_vector_seal(owner, space, persona_id, number, version, vector)!
UPDATE memory_vectors SET vector = :vector
WHERE owner = :owner AND space = :space AND persona_id = :persona_id AND number = :number AND version = :version;

-- name: erase_memory_vectors(owner, limit)!
-- The next rows of an erased owner.
DELETE FROM memory_vectors WHERE owner = :owner AND (space, persona_id, number) IN (
    SELECT space, persona_id, number FROM memory_vectors WHERE owner = :owner LIMIT :limit
);
