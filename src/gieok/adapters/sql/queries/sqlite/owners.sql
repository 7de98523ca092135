-- The guard row of an owner.

-- name: hold_owner(owner)^
-- The guard row for a unit that writes. SQLite has one writer, so nothing needs to be held.
SELECT key_generation, erased_at FROM owners WHERE owner = :owner;
