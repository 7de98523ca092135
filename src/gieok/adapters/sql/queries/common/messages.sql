-- The message log of sessions, sealed.

-- name: add_messages(owner, session_ref, seq, id, role, at, content, details, persona_id, number, changed, terms)*!
INSERT INTO messages (owner, session_ref, seq, id, role, at, content, details, persona_id, number, changed, terms)
VALUES (
    :owner, :session_ref, :seq, :id, :role, :at, :content, :details, :persona_id, :number, :changed, :terms
);

-- name: count_messages(owner, session_ref, message_count, log_tag, at)!
-- Set the number of messages, the tag of the log and the last activity of the session.
UPDATE sessions
SET message_count = :message_count, log_tag = :log_tag,
    last_activity_at = CASE WHEN last_activity_at < :at THEN :at ELSE last_activity_at END
WHERE owner = :owner AND session_ref = :session_ref;

-- name: list_newest_messages(owner, session_ref, before, limit)
-- Newest first, without withdrawn ones.
SELECT session_ref, seq, id, role, at, content, details, withdrawn_at
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq < :before AND withdrawn_at IS NULL
ORDER BY seq DESC
LIMIT :limit;

-- name: list_messages_between(owner, session_ref, first, last)
SELECT session_ref, seq, id, role, at, content, details, withdrawn_at
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq BETWEEN :first AND :last
ORDER BY seq;

-- name: list_turn_messages(owner, session_ref, id)
SELECT session_ref, seq, id, role, at, content, details, withdrawn_at
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq >= (
    SELECT m.seq FROM messages AS m WHERE m.owner = :owner AND m.session_ref = :session_ref AND m.id = :id
) AND (withdrawn_at IS NULL OR id = :id)
ORDER BY seq
LIMIT 2;

-- name: list_message_heads(owner, session_ref, first, last)
SELECT seq, id, role, withdrawn_at IS NOT NULL
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq BETWEEN :first AND :last
ORDER BY seq;

-- name: list_message_seals(owner, session_ref, seq, limit)
-- The next rows by session and number.
SELECT session_ref, seq, id, role, at, content, details, persona_id, number, vector_space, vector
FROM messages
WHERE owner = :owner AND (session_ref, seq) > (:session_ref, :seq)
ORDER BY session_ref, seq
LIMIT :limit;

-- name: replace_message_seal(owner, session_ref, seq, content, details, vector)!
-- A vector that was saved since the row was read stays.
UPDATE messages SET content = :content, details = :details, vector = coalesce(:vector, vector)
WHERE owner = :owner AND session_ref = :session_ref AND seq = :seq;

-- name: get_inactive_session(owner, before)^
-- The session that is inactive for longest, still has messages, and has nothing left to do with them.
SELECT session_ref, removed_count
FROM sessions
WHERE
    owner = :owner AND last_activity_at < :before AND removed_count < message_count
    AND NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE jobs.owner = :owner AND jobs.subject = sessions.session_ref AND jobs.due_at IS NOT NULL
    )
ORDER BY last_activity_at, session_ref
LIMIT 1;

-- name: count_first_entries(owner, session_ref, last)
-- How many of these messages are in the index of a persona.
SELECT persona_id, count(*)
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq <= :last AND number IS NOT NULL
GROUP BY persona_id;

-- name: delete_first_messages(owner, session_ref, last)!
DELETE FROM messages WHERE owner = :owner AND session_ref = :session_ref AND seq <= :last;

-- name: count_removed_messages(owner, session_ref, last)!
UPDATE sessions
SET removed_count = CASE WHEN :last < message_count THEN :last ELSE message_count END, log_tag = NULL
WHERE owner = :owner AND session_ref = :session_ref;

-- name: list_sessions_with_removed(owner, session_refs)
SELECT session_ref FROM sessions WHERE owner = :owner AND session_ref IN list(:session_refs) AND removed_count > 0;

-- name: get_removed_count(owner, session_ref)^
SELECT removed_count FROM sessions WHERE owner = :owner AND session_ref = :session_ref;

-- name: erase_messages(owner, limit)!
-- The next rows of an erased owner.
DELETE FROM messages WHERE owner = :owner AND (session_ref, seq) IN (
    SELECT session_ref, seq FROM messages WHERE owner = :owner LIMIT :limit
);

-- name: withdraw_messages(owner, session_ref, first, at)
UPDATE messages SET withdrawn_at = :at
WHERE owner = :owner AND session_ref = :session_ref AND seq >= :first AND withdrawn_at IS NULL
RETURNING id;

-- name: withdraw_message(owner, session_ref, id, at)!
UPDATE messages SET withdrawn_at = :at
WHERE owner = :owner AND session_ref = :session_ref AND id = :id;

-- name: count_withdrawn(owner, session_ref)!
UPDATE sessions SET log_tag = NULL, withdrawn_count = (
    SELECT count(*) FROM messages
    WHERE messages.owner = :owner AND messages.session_ref = :session_ref AND messages.withdrawn_at IS NOT NULL
  )
WHERE owner = :owner AND session_ref = :session_ref;

-- name: list_messages_by_id(owner, session_ref, ids)
SELECT session_ref, seq, id, role, at, content, details, withdrawn_at
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND id IN list(:ids);

-- name: index_message(owner, session_ref, seq, details, persona_id, number, changed, terms)!
-- Replace the terms of a message, and what describes it.
UPDATE messages
SET details = :details, persona_id = :persona_id, number = :number, changed = :changed, terms = :terms
WHERE owner = :owner AND session_ref = :session_ref AND seq = :seq;

-- name: list_messages_to_describe(owner, session_ref, ids)
-- The last column is 0 for a message that must not be found.
SELECT
    session_ref, seq, id, role, at, content, details, persona_id, number,
    CASE WHEN terms IS NULL OR length(terms) > 0 THEN 1 ELSE 0 END
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND id IN list(:ids);

-- name: count_indexed_messages(owner, session_ref)^
SELECT count(number) FROM messages WHERE owner = :owner AND session_ref = :session_ref;

-- name: has_messages_to_index(owner)^
SELECT 1 FROM messages WHERE owner = :owner AND terms IS NULL LIMIT 1;

-- name: list_messages_to_index(owner, limit)
-- Messages that an older release stored, with the persona of their session.
SELECT
    one.session_ref, one.seq, one.id, one.role, one.at, one.content, one.details, session.persona_id, one.number, 1
FROM messages AS one
INNER JOIN sessions AS session ON session.owner = :owner AND session.session_ref = one.session_ref
WHERE one.owner = :owner AND one.terms IS NULL
ORDER BY one.session_ref, one.seq
LIMIT :limit;

-- name: list_messages_to_reindex(owner, session_ref, seq, limit)
-- The next rows by session and number.
SELECT
    session_ref, seq, id, role, at, content, details, persona_id, number,
    CASE WHEN length(terms) > 0 THEN 1 ELSE 0 END
FROM messages
WHERE owner = :owner AND (session_ref, seq) > (:session_ref, :seq) AND number IS NOT NULL
ORDER BY session_ref, seq
LIMIT :limit;
