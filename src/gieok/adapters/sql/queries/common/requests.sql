-- Idempotency keys of requests.

-- name: get_request(owner, key, now)^
SELECT body, answer FROM requests WHERE owner = :owner AND key = :key AND expires_at > :now;

-- name: add_request(owner, key, body, answer, now, expires_at)!
-- 0 rows when the key is taken. Of two concurrent inserts, the second waits for the first.
INSERT INTO requests (owner, key, body, answer, expires_at)
VALUES (:owner, :key, :body, :answer, :expires_at)
ON CONFLICT (owner, key) DO UPDATE
SET body = excluded.body, answer = excluded.answer, expires_at = excluded.expires_at
WHERE requests.expires_at <= :now;

-- name: delete_expired_requests(owner, now, limit)!
-- The oldest expired ones. The rows are locked in one order, so that two deletions do not deadlock.
DELETE FROM requests
WHERE owner = :owner AND key IN (
    SELECT key FROM requests WHERE owner = :owner AND expires_at <= :now ORDER BY expires_at, key LIMIT :limit FOR UPDATE
);

-- name: erase_requests(owner)!
DELETE FROM requests WHERE owner = :owner;
