-- Everything of an owner, page by page in the order of a key, and what an import has to look up.

-- name: count_exports(owner)^
-- How many records an export has.
SELECT
    (SELECT count(*) FROM chain_versions WHERE owner = :owner)
    + (SELECT count(*) FROM persona_memory_configs
       WHERE owner = :owner AND (recall = 0 OR active_limit IS NOT NULL))
    + (SELECT count(*) FROM profiles WHERE owner = :owner)
    + (SELECT count(*) FROM sessions WHERE owner = :owner)
    + (SELECT count(*) FROM session_plan_moves WHERE owner = :owner)
    + (SELECT count(*) FROM messages WHERE owner = :owner)
    + (SELECT count(*) FROM turn_memories WHERE owner = :owner)
    + (SELECT count(*) FROM memories WHERE owner = :owner)
    + (SELECT count(*) FROM memory_versions WHERE owner = :owner)
    + (SELECT count(*) FROM emotional_moments WHERE owner = :owner)
    + (SELECT count(*) FROM evidence WHERE owner = :owner)
    + (SELECT count(*) FROM decision_relations WHERE owner = :owner)
    + (SELECT count(*) FROM anchors WHERE owner = :owner)
    + (SELECT count(*) FROM audit_entries WHERE owner = :owner);

-- name: list_fact_exports(owner, root_id, version, limit)
-- The next versions of facts after this one; of a retired fact, the newest says since when.
SELECT
    one.root_id, one.version, one.id, one.form, one.content, one.created_at,
    CASE WHEN head.standing = 0 AND head.version = one.version THEN head.updated_at END
FROM chain_versions AS one
LEFT JOIN fact_heads AS head ON head.owner = :owner AND head.root_id = one.root_id
WHERE one.owner = :owner AND one.kind = 'fact' AND (one.root_id, one.version) > (:root_id, :version)
ORDER BY one.root_id, one.version
LIMIT :limit;

-- name: list_document_exports(owner, root_id, version, limit)
-- The next versions of documents after this one; the newest says when the document expires.
SELECT
    one.root_id, one.version, one.id, one.form, one.content, one.created_at,
    CASE WHEN head.version = one.version THEN head.expires_at END
FROM chain_versions AS one
LEFT JOIN document_heads AS head ON head.owner = :owner AND head.root_id = one.root_id
WHERE one.owner = :owner AND one.kind = 'document' AND (one.root_id, one.version) > (:root_id, :version)
ORDER BY one.root_id, one.version
LIMIT :limit;

-- name: list_config_exports(owner, persona_id, limit)
-- The next personas for which something was set.
SELECT persona_id, recall, active_limit
FROM persona_memory_configs
WHERE owner = :owner AND persona_id > :persona_id AND (recall = 0 OR active_limit IS NOT NULL)
ORDER BY persona_id
LIMIT :limit;

-- name: list_session_refs(owner, session_ref, limit)
SELECT session_ref
FROM sessions
WHERE owner = :owner AND session_ref > :session_ref
ORDER BY session_ref
LIMIT :limit;

-- name: list_waiting_jobs(owner, session_ref, kind)
-- What is claimed and has no summary yet, or none that is final; or what is not remembered yet.
SELECT first_seq, last_seq, memory_id
FROM jobs
WHERE owner = :owner AND subject = :session_ref AND kind = :kind AND status <> 'done'
ORDER BY first_seq;

-- name: list_turn_exports(owner, after, limit)
SELECT id, session_ref, at, summary, keywords, message_id
FROM turn_memories
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: list_memory_exports(owner, persona_id, number, limit)
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND (persona_id, number) > (:persona_id, :number)
ORDER BY persona_id, number
LIMIT :limit;

-- name: list_evidence_ids(owner, after, limit)
SELECT id FROM evidence WHERE owner = :owner AND id > :after ORDER BY id LIMIT :limit;

-- name: list_relation_exports(owner, after, limit)
SELECT id, source, type, target
FROM decision_relations
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: list_anchor_exports(owner, after, limit)
SELECT id, session_ref, content, created_at
FROM anchors
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: list_audit_exports(owner, after, limit)
SELECT id, at, action, subject
FROM audit_entries
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: get_chain_version(owner, kind, root_id, version)^
SELECT root_id, version, id, form, content, created_at
FROM chain_versions
WHERE owner = :owner AND kind = :kind AND root_id = :root_id AND version = :version;

-- name: get_turn_export(owner, id)^
SELECT id, session_ref, at, summary, keywords, message_id FROM turn_memories WHERE owner = :owner AND id = :id;

-- name: get_moment_export(owner, id, memory_id)^
-- The moment of this id, or the one that its memory has already.
SELECT id, persona_id, memory_id, intensity, at, content
FROM emotional_moments
WHERE owner = :owner AND (id = :id OR memory_id = :memory_id);

-- name: import_session(owner, session_ref, persona_id, account_plan, plan_hash, plans, started_at, last_activity_at)!
-- 0 rows when the name is taken. Its end and its counts come when its messages are there.
INSERT INTO sessions
    (owner, session_ref, persona_id, account_plan, last_plan_hash, plans, started_at, last_activity_at)
VALUES (:owner, :session_ref, :persona_id, :account_plan, :plan_hash, :plans, :started_at, :last_activity_at)
ON CONFLICT (owner, session_ref) DO NOTHING;

-- name: import_removed_count(owner, session_ref, removed_count)!
UPDATE sessions SET message_count = :removed_count, removed_count = :removed_count
WHERE owner = :owner AND session_ref = :session_ref;

-- name: finish_imported_session(owner, session_ref, last_activity_at, ended_at, claimed_count, summarized_count, unremembered_count)!
UPDATE sessions
SET last_activity_at = :last_activity_at, ended_at = :ended_at,
    claimed_count = :claimed_count, summarized_count = :summarized_count,
    unremembered_count = :unremembered_count
WHERE owner = :owner AND session_ref = :session_ref;

-- name: import_plan_move(owner, session_ref, number, moved_at, from_hash, to_hash)!
INSERT INTO session_plan_moves (owner, session_ref, number, moved_at, from_hash, to_hash)
VALUES (:owner, :session_ref, :number, :moved_at, :from_hash, :to_hash);

-- name: link_job_to_memory(owner, id, memory_id)!
-- The job is to better this memory.
UPDATE jobs SET memory_id = :memory_id WHERE owner = :owner AND id = :id;
