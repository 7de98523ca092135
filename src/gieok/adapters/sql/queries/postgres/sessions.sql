-- Sessions: holding one.

-- name: hold_session(owner, session_ref)^
-- The session for a unit that decides by what it reads, held so that nobody changes it in between.
SELECT persona_id, account_plan, last_plan_hash, started_at, last_activity_at, ended_at,
       message_count, claimed_count, summarized_count
FROM sessions
WHERE owner = :owner AND session_ref = :session_ref FOR UPDATE;
