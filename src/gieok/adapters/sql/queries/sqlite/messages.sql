-- The raw log of sessions: finding messages by their ids.

-- name: list_messages_by_id(owner, session_ref, ids)
SELECT session_ref, seq, id, role, at, content
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND id IN (SELECT value FROM json_each(:ids));
