-- Sessions: their plan and their activity.

-- name: get_session(owner, session_ref)^
SELECT last_plan_hash, started_at, last_activity_at
FROM sessions
WHERE owner = :owner AND session_ref = :session_ref;

-- name: remember_session(owner, session_ref, plan_hash, at)!
-- 0 rows when the session ran another plan meanwhile.
INSERT INTO sessions (owner, session_ref, last_plan_hash, started_at, last_activity_at)
VALUES (:owner, :session_ref, :plan_hash, :at, :at)
ON CONFLICT (owner, session_ref) DO UPDATE
SET last_activity_at = CASE
    WHEN excluded.last_activity_at > sessions.last_activity_at THEN excluded.last_activity_at
    ELSE sessions.last_activity_at
END
WHERE sessions.last_plan_hash = excluded.last_plan_hash;

-- name: move_session(owner, session_ref, plan_hash)!
UPDATE sessions SET last_plan_hash = :plan_hash
WHERE owner = :owner AND session_ref = :session_ref;

-- name: add_session_plan_move(owner, session_ref, moved_at, from_hash, to_hash)!
INSERT INTO session_plan_moves (owner, session_ref, number, moved_at, from_hash, to_hash)
SELECT :owner, :session_ref, 1 + coalesce(max(number), 0), :moved_at, :from_hash, :to_hash
FROM session_plan_moves
WHERE owner = :owner AND session_ref = :session_ref;

-- name: list_session_plan_moves(owner, session_ref)
SELECT moved_at, from_hash, to_hash
FROM session_plan_moves
WHERE owner = :owner AND session_ref = :session_ref
ORDER BY number;

-- name: erase_session_plan_moves(owner)!
DELETE FROM session_plan_moves WHERE owner = :owner;

-- name: erase_sessions(owner)!
DELETE FROM sessions WHERE owner = :owner;
