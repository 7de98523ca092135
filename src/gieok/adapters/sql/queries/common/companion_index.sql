-- Companion memory: the blind search index.

-- name: add_memory_postings(owner, token, archived, number, times, words)*!
INSERT INTO memory_postings (owner, token, archived, number, times, words)
VALUES (:owner, :token, :archived, :number, :times, :words);

-- name: remove_memory_postings(owner, token, archived, number)*!
DELETE FROM memory_postings
WHERE owner = :owner AND token = :token AND archived = :archived AND number = :number;

-- name: count_memory_terms(owner, token, archived)*!
INSERT INTO memory_terms (owner, token, archived, memories)
VALUES (:owner, :token, :archived, 1)
ON CONFLICT (owner, token, archived) DO UPDATE SET memories = memory_terms.memories + 1;

-- name: discount_memory_terms(owner, token, archived)*!
UPDATE memory_terms SET memories = memories - 1
WHERE owner = :owner AND token = :token AND archived = :archived;

-- name: remove_unused_memory_terms(owner, token, archived)*!
-- Removes the count of a term that no memory contains any more.
DELETE FROM memory_terms
WHERE owner = :owner AND token = :token AND archived = :archived AND memories = 0;

-- name: list_memory_postings(owner, tokens, archived)
-- Archived memories count if `archived` is 1.
SELECT number, token, times, words
FROM memory_postings
WHERE owner = :owner AND token IN list(:tokens) AND archived IN (0, :archived);

-- name: list_memory_postings_among(owner, tokens, archived, numbers)
-- The same, of these memories only.
SELECT number, token, times, words
FROM memory_postings
WHERE owner = :owner AND token IN list(:tokens) AND archived IN (0, :archived) AND number IN list(:numbers);

-- name: list_memory_index(owner, persona_id, after, archived)
-- The index entries of the memories above a number; archived ones count if `archived` is 1.
SELECT number, importance, occurred_at, session_ref, words, terms
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND number > :after AND (archived_at IS NULL OR :archived = 1)
ORDER BY number;

-- name: list_memories_with_term(owner, token, archived, limit)
-- The newest memories with this token, active or archived.
SELECT number
FROM memory_postings
WHERE owner = :owner AND token = :token AND archived = :archived
ORDER BY number DESC
LIMIT :limit;

-- name: list_recent_memories(owner, persona_id, archived, limit)
-- Archived memories count if `archived` is 1.
SELECT number
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND (archived_at IS NULL OR :archived = 1)
ORDER BY created_at DESC, number DESC
LIMIT :limit;

-- name: list_important_memories(owner, persona_id, limit)
-- Active memories only.
SELECT number
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND archived_at IS NULL
ORDER BY importance DESC, created_at DESC, number DESC
LIMIT :limit;
