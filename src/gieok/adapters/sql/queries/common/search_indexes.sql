-- How far the search indexes of an owner are rebuilt, and for which analyzer.

-- name: begin_search_index(owner, name, analyzer, position)!
-- 0 rows when it is there already.
INSERT INTO search_indexes (owner, name, analyzer, position)
VALUES (:owner, :name, :analyzer, :position)
ON CONFLICT (owner, name) DO NOTHING;

-- name: lock_search_index(owner, name)^
-- Locked, so that two workers do not rebuild the same rows.
SELECT analyzer, position FROM search_indexes WHERE owner = :owner AND name = :name FOR UPDATE;

-- name: move_search_index(owner, name, analyzer, position)!
UPDATE search_indexes SET analyzer = :analyzer, position = :position WHERE owner = :owner AND name = :name;

-- name: list_turn_keywords(owner, after, limit)
-- What the postings of the next memories are made of, by id.
SELECT id, session_ref, at, keywords
FROM turn_memories
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: add_missing_turn_postings(owner, token, at, id, keyword)*!
INSERT INTO turn_memory_index (owner, token, at, id, keyword)
VALUES (:owner, :token, :at, :id, :keyword)
ON CONFLICT (owner, token, at, id, keyword) DO NOTHING;

-- name: list_turn_tokens(owner, first, limit)
SELECT DISTINCT token FROM turn_memory_index WHERE owner = :owner AND token >= :first ORDER BY token LIMIT :limit;

-- name: list_turn_postings(owner, tokens)
-- The postings of these tokens, each with the keywords that it must be one of. A memory that is gone gives NULLs.
SELECT posting.token, posting.at, posting.id, posting.keyword, memory.session_ref, memory.keywords
FROM turn_memory_index AS posting
LEFT JOIN turn_memories AS memory ON memory.owner = :owner AND memory.id = posting.id
WHERE posting.owner = :owner AND posting.token IN list(:tokens);

-- name: remove_turn_postings(owner, token, at, id, keyword)*!
DELETE FROM turn_memory_index
WHERE owner = :owner AND token = :token AND at = :at AND id = :id AND keyword = :keyword;

-- name: list_memory_personas(owner, after, limit)
-- The next memories by id.
SELECT id, persona_id FROM memories WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: reindex_memory(owner, id, topic_token, words, terms)!
-- No new version: nothing that the user could see has changed.
UPDATE memories SET topic_token = :topic_token, words = :words, terms = :terms WHERE owner = :owner AND id = :id;

-- name: lock_decision_heads(owner, after, limit)
-- The next decisions by root, held so that no version is appended to them meanwhile.
SELECT root_id FROM decision_heads WHERE owner = :owner AND root_id > :after ORDER BY root_id LIMIT :limit
FOR NO KEY UPDATE;

-- name: erase_search_indexes(owner)!
DELETE FROM search_indexes WHERE owner = :owner;
