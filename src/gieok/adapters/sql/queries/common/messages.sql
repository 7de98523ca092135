-- The message log of sessions, sealed.

-- name: add_messages(owner, session_ref, seq, id, role, at, content)*!
INSERT INTO messages (owner, session_ref, seq, id, role, at, content)
VALUES (:owner, :session_ref, :seq, :id, :role, :at, :content);

-- name: count_messages(owner, session_ref, message_count, at)!
-- Set the number of messages and the last activity of the session.
UPDATE sessions
SET message_count = :message_count,
    last_activity_at = CASE WHEN last_activity_at < :at THEN :at ELSE last_activity_at END
WHERE owner = :owner AND session_ref = :session_ref;

-- name: list_newest_messages(owner, session_ref, limit)
-- Newest first.
SELECT session_ref, seq, id, role, at, content
FROM messages
WHERE owner = :owner AND session_ref = :session_ref
ORDER BY seq DESC
LIMIT :limit;

-- name: list_messages_between(owner, session_ref, first, last)
SELECT session_ref, seq, id, role, at, content
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq BETWEEN :first AND :last
ORDER BY seq;

-- name: list_roles(owner, session_ref, first, last)
SELECT role
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq BETWEEN :first AND :last
ORDER BY seq;

-- name: list_message_seals(owner, session_ref, seq, limit)
-- The next rows by session and number.
SELECT session_ref, seq, id, role, at, content
FROM messages
WHERE owner = :owner AND (session_ref, seq) > (:session_ref, :seq)
ORDER BY session_ref, seq
LIMIT :limit;

-- name: replace_message_seal(owner, session_ref, seq, content)!
UPDATE messages SET content = :content
WHERE owner = :owner AND session_ref = :session_ref AND seq = :seq;

-- name: erase_messages(owner)!
DELETE FROM messages WHERE owner = :owner;

-- name: list_messages_by_id(owner, session_ref, ids)
SELECT session_ref, seq, id, role, at, content
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND id IN list(:ids);
