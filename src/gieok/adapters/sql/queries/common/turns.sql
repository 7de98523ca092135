-- Turn memory: sealed rows, and the postings of the blind index.

-- name: save_turn_memory(owner, id, session_ref, at, summary, keywords)!
-- 0 rows when the id exists.
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

-- name: search_turn_memories(owner, tokens, top_k)
-- The memories with a posting for any of the tokens: most keywords first, then newest.
-- A posting without its memory gives NULLs, so that damage is detected.
SELECT found.id, found.at, memory.session_ref, memory.summary
FROM (
    SELECT id, at, count(DISTINCT keyword) AS matched
    FROM turn_memory_index
    WHERE owner = :owner AND token IN list(:tokens)
    GROUP BY at, id
    ORDER BY matched DESC, at DESC, id
    LIMIT :top_k
) AS found
LEFT JOIN turn_memories AS memory ON memory.owner = :owner AND memory.id = found.id AND memory.at = found.at
ORDER BY found.matched DESC, found.at DESC, found.id;
