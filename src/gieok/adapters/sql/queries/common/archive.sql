-- What the archive gets copies of, and messages whose text is in the archive only.

-- name: list_messages_to_copy(owner, session_ref, seqs)
SELECT session_ref, seq, id, role, at, content, details, persona_id, withdrawn_at
FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND seq IN list(:seqs);

-- name: list_next_messages_to_copy(owner, session_ref, seq, limit)
-- By session and number.
SELECT session_ref, seq, id, role, at, content, details, persona_id, withdrawn_at
FROM messages
WHERE owner = :owner AND (session_ref, seq) > (:session_ref, :seq)
ORDER BY session_ref, seq
LIMIT :limit;

-- name: list_memories_to_copy(owner, ids)
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content,
    changed
FROM memories
WHERE owner = :owner AND id IN list(:ids);

-- name: list_next_memories_to_copy(owner, after, limit)
-- By id.
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content,
    changed
FROM memories
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: get_session_to_archive(owner, before)^
-- The session that is inactive for longest, still has the text of messages, and has nothing left to do with them.
SELECT session_ref, CASE WHEN archived_count > removed_count THEN archived_count ELSE removed_count END
FROM sessions
WHERE
    owner = :owner AND last_activity_at < :before AND archived_count < message_count AND removed_count < message_count
    AND NOT EXISTS (
        SELECT 1 FROM jobs
        WHERE jobs.owner = :owner AND jobs.subject = sessions.session_ref AND jobs.due_at IS NOT NULL
    )
ORDER BY last_activity_at, session_ref
LIMIT 1;

-- name: remove_text(owner, session_ref, seq, content, archived)!
-- 0 rows if it was resealed since it was read.
UPDATE messages SET content = :archived
WHERE owner = :owner AND session_ref = :session_ref AND seq = :seq AND content = :content;

-- name: put_text_back(owner, session_ref, seq, content, archived)!
UPDATE messages SET content = :content
WHERE owner = :owner AND session_ref = :session_ref AND seq = :seq AND content = :archived;

-- name: set_archived_count(owner, session_ref, archived_count)!
UPDATE sessions SET archived_count = :archived_count WHERE owner = :owner AND session_ref = :session_ref;

-- name: get_archived_session(owner)^
-- A session with messages whose text is in the archive.
SELECT session_ref, removed_count, archived_count
FROM sessions
WHERE owner = :owner AND archived_count > removed_count
ORDER BY session_ref
LIMIT 1;

-- name: list_archived_numbers(owner, persona_id, archived)
-- The numbers in the index of messages whose text is in the archive.
SELECT number
FROM messages
WHERE owner = :owner AND persona_id = :persona_id AND number IS NOT NULL AND content = :archived;
