-- Queries of both SQL keystores. Each runs inside one transaction of `operations.py`.

-- name: head()
SELECT root_id, tag_key_id, tag_key, created_at FROM head

-- name: claim(root_id, tag_key_id, tag_key, created_at)!
INSERT INTO head (only_row, root_id, tag_key_id, tag_key, created_at)
VALUES (1, :root_id, :tag_key_id, :tag_key, :created_at)
ON CONFLICT DO NOTHING

-- name: replace_head(root_id, tag_key)!
UPDATE head SET root_id = :root_id, tag_key = :tag_key

-- name: keys_of(owner)
SELECT owner, purpose, generation, key_id, wrapped, created_at
FROM wrapped_keys
WHERE owner = :owner
ORDER BY purpose, generation

-- name: insert_key(owner, purpose, generation, key_id, wrapped, created_at)!
INSERT INTO wrapped_keys (owner, purpose, generation, key_id, wrapped, created_at)
VALUES (:owner, :purpose, :generation, :key_id, :wrapped, :created_at)
ON CONFLICT DO NOTHING

-- name: newest_generation(owner)
SELECT max(generation) FROM wrapped_keys WHERE owner = :owner AND purpose = 'data'

-- name: delete_older(owner, generation)!
DELETE FROM wrapped_keys
WHERE owner = :owner
  AND purpose = 'data'
  AND generation < :generation
  AND generation < (
      SELECT max(newest.generation) FROM wrapped_keys AS newest
      WHERE newest.owner = :owner AND newest.purpose = 'data'
  )

-- name: keys_after(owner, purpose, generation, limit)
-- A page of all keys, after the given one.
SELECT owner, purpose, generation, key_id, wrapped, created_at
FROM wrapped_keys
WHERE (owner, purpose, generation) > (:owner, :purpose, :generation)
ORDER BY owner, purpose, generation
LIMIT :limit

-- name: replace_wrapped*!
UPDATE wrapped_keys SET wrapped = :wrapped
WHERE owner = :owner AND purpose = :purpose AND generation = :generation

-- name: destroy_keys(owner)!
DELETE FROM wrapped_keys WHERE owner = :owner

-- name: begin_erasure(tag, owner)!
INSERT INTO tombstones (tag, owner) VALUES (:tag, :owner)
ON CONFLICT DO NOTHING

-- name: finish_erasure(tag)!
UPDATE tombstones SET owner = NULL WHERE tag = :tag

-- name: tombstone(tag)
SELECT 1 FROM tombstones WHERE tag = :tag

-- name: tombstones(tag, limit)
-- A page of all tags, after the given one.
SELECT tag FROM tombstones WHERE tag > :tag ORDER BY tag LIMIT :limit

-- name: unfinished_erasures()
SELECT owner FROM tombstones WHERE owner IS NOT NULL ORDER BY owner

-- name: owners(owner, limit)
SELECT DISTINCT owner FROM wrapped_keys WHERE owner > :owner ORDER BY owner LIMIT :limit

-- name: counts()
SELECT
    (SELECT count(DISTINCT owner) FROM wrapped_keys),
    (SELECT count(*) FROM wrapped_keys),
    (SELECT count(*) FROM tombstones WHERE owner IS NOT NULL),
    (SELECT count(*) FROM tombstones WHERE owner IS NULL),
    (SELECT min(created_at) FROM wrapped_keys)
