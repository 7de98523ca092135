-- Idempotency keys of requests.

-- name: get_request(owner, key, now)^
SELECT body, answer, sealed FROM requests WHERE owner = :owner AND key = :key AND expires_at > :now;

-- name: add_request(owner, key, body, sealed, now, expires_at, session_ref, turn_id, persona_id, after_deletion)!
-- 0 rows when the key is taken; a key whose answer was deleted is free if `after_deletion` is 1. Of two concurrent inserts, the second waits for the first.
INSERT INTO requests (owner, key, body, answer, sealed, expires_at, session_ref, turn_id, persona_id)
VALUES (:owner, :key, :body, '-', :sealed, :expires_at, :session_ref, :turn_id, :persona_id)
ON CONFLICT (owner, key) DO UPDATE
SET body = excluded.body, answer = excluded.answer, sealed = excluded.sealed, expires_at = excluded.expires_at,
    session_ref = excluded.session_ref, turn_id = excluded.turn_id, persona_id = excluded.persona_id
WHERE requests.expires_at <= :now OR (:after_deletion = 1 AND requests.answer = 'deleted' AND requests.sealed IS NULL);

-- name: delete_expired_requests(owner, now, limit)!
-- The oldest expired ones. The rows are locked in one order, so that two deletions do not deadlock.
DELETE FROM requests
WHERE owner = :owner AND key IN (
    SELECT key FROM requests WHERE owner = :owner AND expires_at <= :now ORDER BY expires_at, key LIMIT :limit FOR UPDATE
);

-- name: clear_turn_requests(owner, session_ref, ids)!
-- The stored answers that quote these turns.
UPDATE requests SET answer = 'deleted', sealed = NULL, session_ref = NULL, turn_id = NULL
WHERE owner = :owner AND session_ref = :session_ref AND turn_id IN list(:ids);

-- name: clear_persona_requests(owner, persona_id)!
-- The stored answers that quote facts between the user and this persona.
UPDATE requests SET answer = 'deleted', sealed = NULL, persona_id = NULL WHERE owner = :owner AND persona_id = :persona_id;

-- name: list_request_seals(owner, after, limit)
SELECT key, sealed FROM requests WHERE owner = :owner AND key > :after AND sealed IS NOT NULL ORDER BY key LIMIT :limit;

-- name: replace_request_seal(owner, key, sealed)!
UPDATE requests SET sealed = :sealed WHERE owner = :owner AND key = :key;

-- name: erase_requests(owner)!
DELETE FROM requests WHERE owner = :owner;
