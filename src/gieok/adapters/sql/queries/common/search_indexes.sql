-- Revisions of searched scopes; how far the search indexes of an owner are rebuilt, and for which analyzer.

-- name: get_search_scope(owner, kind, scope)^
SELECT revision, removed, row_count FROM search_scopes WHERE owner = :owner AND kind = :kind AND scope = :scope;

-- name: change_search_scope(owner, kind, scope, added)^
-- Every change of a row in the scope runs this. It locks the scope until the transaction ends.
INSERT INTO search_scopes (owner, kind, scope, revision, removed, row_count)
VALUES (:owner, :kind, :scope, 1, 0, CASE WHEN :added > 0 THEN :added ELSE 0 END)
ON CONFLICT (owner, kind, scope) DO UPDATE SET
    revision = search_scopes.revision + 1,
    removed = CASE WHEN :added < 0 THEN search_scopes.revision + 1 ELSE search_scopes.removed END,
    row_count = search_scopes.row_count + :added
RETURNING revision;

-- name: erase_search_scopes(owner)!
DELETE FROM search_scopes WHERE owner = :owner;

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
-- The keywords of the next memories, by id.
SELECT id, session_ref, keywords
FROM turn_memories
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: reindex_turn_memory(owner, id, terms, changed)!
UPDATE turn_memories SET terms = :terms, changed = :changed WHERE owner = :owner AND id = :id;

-- name: list_memory_personas(owner, after, limit)
-- The next memories by id.
SELECT id, persona_id FROM memories WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: reindex_memory(owner, id, topic_token, terms, changed)!
-- No new version: nothing that the user could see has changed.
UPDATE memories SET topic_token = :topic_token, terms = :terms, changed = :changed WHERE owner = :owner AND id = :id;

-- name: lock_decision_chains(owner, after, limit)
-- The next decisions by root, held so that no version is appended to them meanwhile.
SELECT root_id
FROM chain_heads
WHERE owner = :owner AND kind = 'decision' AND root_id > :after AND active IS NOT NULL
ORDER BY root_id
LIMIT :limit
FOR NO KEY UPDATE;

-- name: erase_search_indexes(owner)!
DELETE FROM search_indexes WHERE owner = :owner;
