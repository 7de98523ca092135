-- The guard row of an owner.

-- name: get_owner(owner)^
-- The key generation, and when the owner was erased (NULL while they are not).
SELECT key_generation, erased_at FROM owners WHERE owner = :owner;

-- name: add_owner(owner, key_generation, created_at)!
-- 0 rows when the owner is there already.
INSERT INTO owners (owner, key_generation, created_at)
VALUES (:owner, :key_generation, :created_at)
ON CONFLICT (owner) DO NOTHING;

-- name: set_owner_key_generation(owner, key_generation)!
-- Never back: of two rotations at once, the later key counts.
UPDATE owners SET key_generation = :key_generation
WHERE owner = :owner AND erased_at IS NULL AND key_generation <= :key_generation;

-- name: mark_owner_erased(owner, erased_at, created_at)!
-- Also for an owner without a row, so that a first write that is under way finds it. The first erasure keeps its time.
INSERT INTO owners (owner, key_generation, erased_at, created_at)
VALUES (:owner, 1, :erased_at, :created_at)
ON CONFLICT (owner) DO UPDATE SET erased_at = coalesce(owners.erased_at, excluded.erased_at);

-- name: remove_owner(owner)!
-- The last row of an erased owner in this database. The tombstone in the keystore still refuses the name.
DELETE FROM owners WHERE owner = :owner AND erased_at IS NOT NULL;

-- name: lock_owner(owner)^
-- Locks the owner row for a write, so that neither an erasure nor a key rotation can run in between.
-- With the consumers for whom its events are recorded.
SELECT key_generation, erased_at, consumers FROM owners WHERE owner = :owner FOR SHARE;

-- name: add_seals(owner, generation, seals)!
-- A late writer under an older key does not count.
INSERT INTO seal_counts (owner, generation, seals)
VALUES (:owner, :generation, :seals)
ON CONFLICT (owner) DO UPDATE
SET
    seals = CASE WHEN seal_counts.generation = excluded.generation THEN seal_counts.seals ELSE 0 END + excluded.seals,
    generation = excluded.generation
WHERE seal_counts.generation <= excluded.generation;

-- name: erase_staged_commits(owner)!
DELETE FROM staged_commits WHERE owner = :owner;

-- name: erase_staged_changes(owner)!
DELETE FROM staged_changes WHERE owner = :owner;

-- name: erase_seal_counts(owner)!
DELETE FROM seal_counts WHERE owner = :owner;

-- name: get_seal_count(owner)^
SELECT generation, seals FROM seal_counts WHERE owner = :owner;
