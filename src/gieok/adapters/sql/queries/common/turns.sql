-- Turn memory: sealed rows with their packed terms.

-- name: save_turn_memory(owner, id, session_ref, message_id, at, summary, keywords, terms, changed)!
-- 0 rows when the id exists.
INSERT INTO turn_memories (owner, id, session_ref, message_id, at, summary, keywords, terms, changed)
VALUES (:owner, :id, :session_ref, :message_id, :at, :summary, :keywords, :terms, :changed)
ON CONFLICT (owner, id) DO NOTHING;

-- name: list_turn_index(owner, session_ref, after)
-- The index rows of a session that were written or changed after a revision. A turn memory has one version.
SELECT id, changed, 1, changed, at, 0, NULL, 0, terms
FROM turn_memories
WHERE owner = :owner AND session_ref = :session_ref AND changed > :after
ORDER BY changed;

-- name: list_turn_memories(owner, session_ref, ids)
SELECT id, at, summary, keywords
FROM turn_memories
WHERE owner = :owner AND session_ref = :session_ref AND id IN list(:ids);

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

-- name: erase_turn_memories(owner, limit)!
-- The next rows of an erased owner.
DELETE FROM turn_memories WHERE owner = :owner AND id IN (
    SELECT id FROM turn_memories WHERE owner = :owner LIMIT :limit
);

-- name: remove_turn_memories(owner, session_ref)!
DELETE FROM turn_memories WHERE owner = :owner AND session_ref = :session_ref;

-- name: remove_withdrawn_turns(owner, session_ref, ids)!
-- Those of the exchanges that end with one of these messages.
DELETE FROM turn_memories WHERE owner = :owner AND session_ref = :session_ref AND message_id IN list(:ids);
