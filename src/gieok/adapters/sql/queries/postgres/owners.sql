-- The guard row of an owner.

-- name: hold_owner(owner)^
-- The guard row for a unit that writes, held so that neither an erasure nor a new key can come in between.
SELECT key_generation, erased_at FROM owners WHERE owner = :owner FOR SHARE;
