-- Deep walks through decisions.

-- name: save_walk(owner, id, created_at, found)!
INSERT INTO decision_walks (owner, id, created_at, found) VALUES (:owner, :id, :created_at, :found)
ON CONFLICT (owner, id) DO UPDATE SET created_at = excluded.created_at, found = excluded.found;

-- name: get_walk(owner, id)^
SELECT created_at, found FROM decision_walks WHERE owner = :owner AND id = :id;

-- name: forget_walks(owner, before)!
DELETE FROM decision_walks WHERE owner = :owner AND created_at < :before;

-- name: list_walk_seals(owner, after, limit)
SELECT id, found FROM decision_walks WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: replace_walk_seal(owner, id, found)!
UPDATE decision_walks SET found = :found WHERE owner = :owner AND id = :id;

-- name: erase_decision_walks(owner)!
DELETE FROM decision_walks WHERE owner = :owner;
