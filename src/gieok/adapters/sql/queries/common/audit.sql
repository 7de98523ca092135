-- The audit trail of an owner.

-- name: add_audit_entry(owner, id, at, action, subject, number, hash)!
-- `number` and `hash` are NULL for an entry that is not in the chain.
INSERT INTO audit_entries (owner, id, at, action, subject, number, hash)
VALUES (:owner, :id, :at, :action, :subject, :number, :hash);

-- name: begin_audit_chain(owner, hash)!
-- 0 rows when it has begun already.
INSERT INTO audit_heads (owner, number, hash)
VALUES (:owner, 0, :hash)
ON CONFLICT (owner) DO NOTHING;

-- name: lock_audit_head(owner)^
-- Locked, so that two entries do not get the same number.
SELECT number, hash FROM audit_heads WHERE owner = :owner FOR UPDATE;

-- name: get_audit_head(owner)^
SELECT number, hash FROM audit_heads WHERE owner = :owner;

-- name: move_audit_head(owner, number, hash)!
UPDATE audit_heads SET number = :number, hash = :hash WHERE owner = :owner;

-- name: get_audit_entry(owner, id)^
SELECT id, at, action, subject
FROM audit_entries
WHERE owner = :owner AND id = :id;

-- name: list_audit_entries(owner, limit)
SELECT id, at, action, subject
FROM audit_entries
WHERE owner = :owner
ORDER BY at DESC, id
LIMIT :limit;

-- name: list_audit_entries_before(owner, at, id, limit)
-- The next page: older than this entry.
SELECT id, at, action, subject
FROM audit_entries
WHERE owner = :owner AND at <= :at AND (at < :at OR id > :id)
ORDER BY at DESC, id
LIMIT :limit;

-- name: list_audit_chain(owner, after, limit)
SELECT number, hash, id, at, action, subject
FROM audit_entries
WHERE owner = :owner AND number > :after
ORDER BY number
LIMIT :limit;

-- name: get_audit_checkpoint(owner, action)^
-- The newest checkpoint.
SELECT subject
FROM audit_entries
WHERE owner = :owner AND action = :action AND number IS NOT NULL
ORDER BY number DESC
LIMIT 1;

-- name: has_audit_entry_before(owner, at, action)^
-- One row if an entry of another action is older.
SELECT 1 FROM audit_entries WHERE owner = :owner AND at < :at AND action <> :action LIMIT 1;

-- name: get_last_audit_number_before(owner, at, limit)^
-- The last entry of the chain that is older, with all entries before it; of the first `limit` entries only.
SELECT number, hash
FROM audit_entries
WHERE owner = :owner AND number < (
    SELECT coalesce(min(newer.number), 9223372036854775807)
    FROM audit_entries AS newer
    WHERE newer.owner = :owner AND newer.number IS NOT NULL AND newer.at >= :at
) AND number < :limit + (
    SELECT min(oldest.number) FROM audit_entries AS oldest WHERE oldest.owner = :owner AND oldest.number IS NOT NULL
)
ORDER BY number DESC
LIMIT 1;

-- name: delete_audit_entries(owner, number, at)!
-- Entries of the chain up to a number, and older ones that are not in the chain.
DELETE FROM audit_entries WHERE owner = :owner AND (number <= :number OR (number IS NULL AND at < :at));

-- name: erase_audit_entries(owner)!
DELETE FROM audit_entries WHERE owner = :owner;

-- name: erase_audit_heads(owner)!
DELETE FROM audit_heads WHERE owner = :owner;
