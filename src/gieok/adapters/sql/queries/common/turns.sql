-- Turn memory: what is kept, sealed, and the postings that find it.

-- name: save_turn_memory(owner, id, session_ref, at, summary, keywords)!
-- 0 rows when the id is there already.
INSERT INTO turn_memories (owner, id, session_ref, at, summary, keywords)
VALUES (:owner, :id, :session_ref, :at, :summary, :keywords)
ON CONFLICT (owner, id) DO NOTHING;

-- name: save_turn_postings(owner, token, at, id, keyword)*!
INSERT INTO turn_memory_index (owner, token, at, id, keyword)
VALUES (:owner, :token, :at, :id, :keyword);

-- name: list_turn_seals(owner, after, limit)
-- The sealed values of the next rows, by id.
SELECT id, summary, keywords
FROM turn_memories
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: replace_turn_seals(owner, id, summary, keywords)!
UPDATE turn_memories SET summary = :summary, keywords = :keywords
WHERE owner = :owner AND id = :id;

-- name: erase_turn_memory_index(owner)!
DELETE FROM turn_memory_index WHERE owner = :owner;

-- name: erase_turn_memories(owner)!
DELETE FROM turn_memories WHERE owner = :owner;
