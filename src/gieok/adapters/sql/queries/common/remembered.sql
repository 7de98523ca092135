-- Results of remember jobs, sealed.

-- name: save_remembered(owner, id, created_at, result)!
INSERT INTO remembered (owner, id, created_at, result) VALUES (:owner, :id, :created_at, :result)
ON CONFLICT (owner, id) DO UPDATE SET created_at = excluded.created_at, result = excluded.result;

-- name: get_remembered(owner, id)^
SELECT result FROM remembered WHERE owner = :owner AND id = :id;

-- name: delete_results(owner, ids)!
DELETE FROM remembered WHERE owner = :owner AND id IN list(:ids);

-- name: delete_remembered(owner, before)!
DELETE FROM remembered WHERE owner = :owner AND created_at < :before;

-- name: list_remembered_seals(owner, after, limit)
SELECT id, result FROM remembered WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: replace_remembered_seal(owner, id, result)!
UPDATE remembered SET result = :result WHERE owner = :owner AND id = :id;

-- name: erase_remembered(owner)!
DELETE FROM remembered WHERE owner = :owner;
