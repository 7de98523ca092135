-- The audit trail of an owner.

-- name: add_audit_entry(owner, id, at, action, subject)!
INSERT INTO audit_entries (owner, id, at, action, subject)
VALUES (:owner, :id, :at, :action, :subject);

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

-- name: erase_audit_entries(owner)!
DELETE FROM audit_entries WHERE owner = :owner;
