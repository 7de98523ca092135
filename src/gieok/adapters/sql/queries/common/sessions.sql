-- Sessions: their plan, their activity, and the progress of their summaries.

-- name: get_session(owner, session_ref)^
SELECT persona_id, account_plan, last_plan_hash, started_at, last_activity_at, ended_at,
       message_count, claimed_count, summarized_count, unremembered_count, withdrawn_count, plans, log_tag
FROM sessions
WHERE owner = :owner AND session_ref = :session_ref;

-- name: start_session(owner, session_ref, persona_id, account_plan, plan_hash, plans, at)!
-- 0 rows when the name is taken.
INSERT INTO sessions
    (owner, session_ref, persona_id, account_plan, last_plan_hash, plans, started_at, last_activity_at)
VALUES (:owner, :session_ref, :persona_id, :account_plan, :plan_hash, :plans, :at, :at)
ON CONFLICT (owner, session_ref) DO NOTHING;

-- name: use_session(owner, session_ref, persona_id, account_plan, at)!
-- Record the last activity, which never goes back in time. NULL leaves a column as it is.
UPDATE sessions
SET persona_id = coalesce(persona_id, :persona_id),
    account_plan = coalesce(:account_plan, account_plan),
    last_activity_at = CASE WHEN last_activity_at < :at THEN :at ELSE last_activity_at END
WHERE owner = :owner AND session_ref = :session_ref;

-- name: end_session(owner, session_ref, at)!
UPDATE sessions SET ended_at = :at
WHERE owner = :owner AND session_ref = :session_ref AND ended_at IS NULL;

-- name: mark_messages_queued(owner, session_ref, last)!
UPDATE sessions SET claimed_count = :last
WHERE owner = :owner AND session_ref = :session_ref;

-- name: mark_messages_summarized(owner, session_ref, count)!
UPDATE sessions SET summarized_count = summarized_count + :count
WHERE owner = :owner AND session_ref = :session_ref;

-- name: set_unremembered(owner, session_ref, count)!
UPDATE sessions SET unremembered_count = :count
WHERE owner = :owner AND session_ref = :session_ref;

-- name: move_session(owner, session_ref, plan_hash, plans)!
UPDATE sessions SET last_plan_hash = :plan_hash, plans = :plans
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

-- name: lock_session(owner, session_ref)^
-- The session with a row lock, for a transaction that decides by what it reads.
SELECT persona_id, account_plan, last_plan_hash, started_at, last_activity_at, ended_at,
       message_count, claimed_count, summarized_count, unremembered_count, withdrawn_count, plans, log_tag
FROM sessions
WHERE owner = :owner AND session_ref = :session_ref FOR UPDATE;

-- name: lock_persona_sessions(owner, persona_id)
-- All sessions with a persona, in one order. Turns lock their session before anything else of the persona.
SELECT session_ref FROM sessions WHERE owner = :owner AND persona_id = :persona_id ORDER BY session_ref FOR UPDATE;

-- name: list_sessions(owner, started_at, session_ref, limit)
-- The next sessions after this one, newest first.
SELECT session_ref, persona_id, account_plan, last_plan_hash, started_at, last_activity_at, ended_at,
       message_count, claimed_count, summarized_count, unremembered_count, withdrawn_count, plans
FROM sessions
WHERE owner = :owner
    AND (started_at < :started_at OR (started_at = :started_at AND session_ref > :session_ref))
ORDER BY started_at DESC, session_ref
LIMIT :limit;

-- name: list_sessions_of_persona(owner, persona_id, started_at, session_ref, limit)
SELECT session_ref, persona_id, account_plan, last_plan_hash, started_at, last_activity_at, ended_at,
       message_count, claimed_count, summarized_count, unremembered_count, withdrawn_count, plans
FROM sessions
WHERE owner = :owner AND persona_id = :persona_id
    AND (started_at < :started_at OR (started_at = :started_at AND session_ref > :session_ref))
ORDER BY started_at DESC, session_ref
LIMIT :limit;

-- name: find_open_session(owner, persona_id, plan_hash, active_since)^
SELECT session_ref, persona_id, account_plan, last_plan_hash, started_at, last_activity_at, ended_at,
       message_count, claimed_count, summarized_count, unremembered_count, withdrawn_count, plans
FROM sessions
WHERE owner = :owner AND persona_id = :persona_id AND ended_at IS NULL
    AND last_plan_hash = :plan_hash AND last_activity_at > :active_since
ORDER BY last_activity_at DESC, started_at DESC, session_ref
LIMIT 1;

-- name: remove_session_messages(owner, session_ref)!
DELETE FROM messages WHERE owner = :owner AND session_ref = :session_ref;

-- name: remove_session_plan_moves(owner, session_ref)!
DELETE FROM session_plan_moves WHERE owner = :owner AND session_ref = :session_ref;

-- name: remove_session_results(owner, session_ref)!
-- What the jobs of the session changed and refused: it quotes the conversation.
DELETE FROM remembered
WHERE owner = :owner AND id IN (SELECT jobs.id FROM jobs WHERE jobs.owner = :owner AND jobs.subject = :session_ref);

-- name: clear_session_requests(owner, session_ref)!
-- The stored answers to requests, which quote the conversation.
UPDATE requests SET answer = 'deleted', sealed = NULL, session_ref = NULL, turn_id = NULL
WHERE owner = :owner AND session_ref = :session_ref;

-- name: remove_session_jobs(owner, session_ref)!
-- The subject of the other kinds is no session.
DELETE FROM jobs
WHERE owner = :owner AND subject = :session_ref AND kind NOT IN (
    'embed', 'reindex', 'merge', 'index', 'rotate', 'erase', 'archive', 'deliver'
);

-- name: remove_session(owner, session_ref)!
DELETE FROM sessions WHERE owner = :owner AND session_ref = :session_ref;
