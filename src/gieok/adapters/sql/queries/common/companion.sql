-- Companion memory: settings and counts, memories, moments. A memory is changed only while its persona is locked.

-- name: add_memory_config(owner, persona_id)!
-- The row of a persona without one, with default settings.
INSERT INTO persona_memory_configs (owner, persona_id, recall, active_limit, last_number, active, archived)
VALUES (:owner, :persona_id, 1, NULL, 0, 0, 0)
ON CONFLICT (owner, persona_id) DO NOTHING;

-- name: get_memory_state(owner, persona_id)^
-- Settings, revisions and counts of a persona.
SELECT recall, active_limit, revision, removed, active, archived, entries, memories_changed
FROM persona_memory_configs
WHERE owner = :owner AND persona_id = :persona_id;

-- name: set_memory_config(owner, persona_id, recall, active_limit)!
UPDATE persona_memory_configs SET recall = :recall, active_limit = :active_limit
WHERE owner = :owner AND persona_id = :persona_id;

-- name: sum_memory_counts(owner)^
SELECT coalesce(sum(active), 0), coalesce(sum(archived), 0) FROM persona_memory_configs WHERE owner = :owner;

-- name: change_memory_counts(owner, persona_id, created, active, archived, is_removal)^
-- Adds to each count; values may be negative. Every change of memories runs this. Returns the new revision, and the
-- number of the last memory.
UPDATE persona_memory_configs
SET
    revision = revision + 1,
    memories_changed = revision + 1,
    removed = CASE WHEN :is_removal = 1 THEN revision + 1 ELSE removed END,
    last_number = last_number + :created,
    active = active + :active,
    archived = archived + :archived
WHERE owner = :owner AND persona_id = :persona_id
RETURNING revision, last_number;

-- name: change_index_entries(owner, persona_id, created, added)^
-- Every change of messages or facts in the index runs this; `added` is negative for a removal. Returns the new revision,
-- and the number of the last entry.
UPDATE persona_memory_configs
SET
    revision = revision + 1,
    removed = CASE WHEN :added < 0 THEN revision + 1 ELSE removed END,
    last_entry = last_entry + :created,
    entries = entries + :added
WHERE owner = :owner AND persona_id = :persona_id
RETURNING revision, last_entry;

-- name: add_memories(owner, id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, changed, topic_token, terms, content)*!
INSERT INTO memories
    (owner, id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version,
     changed, topic_token, terms, content)
VALUES
    (:owner, :id, :persona_id, :number, :session_ref, :origin, :importance, :created_at, :occurred_at, :archived_at,
     :version, :changed, :topic_token, :terms, :content);

-- name: list_existing_memories(owner, ids)
SELECT id FROM memories WHERE owner = :owner AND id IN list(:ids);

-- name: get_memory(owner, id)^
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND id = :id;

-- name: get_memory_position(owner, id)^
SELECT persona_id, number, archived_at FROM memories WHERE owner = :owner AND id = :id;

-- name: replace_memory(owner, id, origin, importance, version, changed, topic_token, terms, content)!
-- 0 rows if the stored version is not the previous one.
UPDATE memories
SET
    origin = :origin, importance = :importance, version = :version, changed = :changed, topic_token = :topic_token,
    terms = :terms, content = :content
WHERE owner = :owner AND id = :id AND version = :version - 1;

-- name: set_memory_archived(owner, id, archived_at, changed)!
UPDATE memories SET archived_at = :archived_at, changed = :changed WHERE owner = :owner AND id = :id;

-- name: remove_memory(owner, id)!
DELETE FROM memories WHERE owner = :owner AND id = :id;

-- name: get_memory_rank_key(owner, id)^
SELECT id, importance, created_at, number, topic_token FROM memories WHERE owner = :owner AND id = :id;

-- name: list_active_rank_keys(owner, persona_id)
SELECT id, importance, created_at, number, topic_token
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND archived_at IS NULL;

-- name: count_active_memories(owner, persona_id)^
SELECT COUNT(*)
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND archived_at IS NULL;

-- name: load_memories(owner, persona_id, limit)
-- One memory for each set of topics, the newest of them; the most important first, then the newest.
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories AS one
WHERE
    owner = :owner AND persona_id = :persona_id AND archived_at IS NULL
    AND NOT EXISTS (
        SELECT 1
        FROM memories AS newer
        WHERE
            newer.owner = :owner AND newer.persona_id = :persona_id AND newer.archived_at IS NULL
            AND newer.topic_token = one.topic_token
            AND (newer.created_at, newer.number) > (one.created_at, one.number)
    )
ORDER BY importance DESC, created_at DESC, number DESC
LIMIT :limit;

-- name: list_memories_of_persona(owner, persona_id, active, archived, limit, offset)
-- Newest first. `active` and `archived` are 1 to include these memories, otherwise 0.
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE
    owner = :owner AND persona_id = :persona_id
    AND CASE WHEN archived_at IS NULL THEN :active ELSE :archived END = 1
ORDER BY created_at DESC, number DESC
LIMIT :limit OFFSET :offset;

-- name: list_memories(owner, active, archived, limit, offset)
-- Newest first, of all personas.
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND CASE WHEN archived_at IS NULL THEN :active ELSE :archived END = 1
ORDER BY created_at DESC, number DESC, id
LIMIT :limit OFFSET :offset;

-- name: count_memories_by_day(owner)
-- By the day on which they happened, in UTC, since 1970.
SELECT occurred_at / 86400000000, count(*) FROM memories WHERE owner = :owner GROUP BY 1 ORDER BY 1;

-- name: count_memories_of_persona_by_day(owner, persona_id)
SELECT occurred_at / 86400000000, count(*) FROM memories
WHERE owner = :owner AND persona_id = :persona_id
GROUP BY 1
ORDER BY 1;

-- name: list_memory_seals(owner, after, limit)
-- The next rows by id.
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: replace_memory_seal(owner, id, version, content)!
-- 0 rows if the memory was edited since it was read: then it is sealed under the new key already.
UPDATE memories SET content = :content WHERE owner = :owner AND id = :id AND version = :version;

-- name: add_moment(owner, id, persona_id, memory_id, intensity, at, content)!
INSERT INTO emotional_moments (owner, id, persona_id, memory_id, intensity, at, content)
VALUES (:owner, :id, :persona_id, :memory_id, :intensity, :at, :content);

-- name: remove_moment(owner, memory_id)!
DELETE FROM emotional_moments WHERE owner = :owner AND memory_id = :memory_id;

-- name: list_moments(owner, persona_id, at, id, limit)
-- The next moments after this one, newest first.
SELECT id, persona_id, memory_id, intensity, at, content
FROM emotional_moments
WHERE owner = :owner AND persona_id = :persona_id AND (at < :at OR (at = :at AND id > :id))
ORDER BY at DESC, id
LIMIT :limit;

-- name: list_moment_seals(owner, after, limit)
SELECT id, persona_id, memory_id, intensity, at, content
FROM emotional_moments
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: replace_moment_seal(owner, id, content)!
UPDATE emotional_moments SET content = :content WHERE owner = :owner AND id = :id;

-- name: erase_emotional_moments(owner)!
DELETE FROM emotional_moments WHERE owner = :owner;

-- name: erase_memories(owner, limit)!
-- The next rows of an erased owner.
DELETE FROM memories WHERE owner = :owner AND id IN (
    SELECT id FROM memories WHERE owner = :owner LIMIT :limit
);

-- name: erase_persona_memory_configs(owner)!
DELETE FROM persona_memory_configs WHERE owner = :owner;

-- name: list_persona_index(owner, persona_id, persona_token, after)
-- The index rows of the memories, messages and facts that were written or changed after a revision. A message has no id
-- of the index's size, one version, and no importance of its own. A retired fact is archived.
SELECT
    id, number, version, changed, occurred_at, importance, session_ref,
    CASE WHEN archived_at IS NULL THEN 0 ELSE 1 END, terms, 0
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND changed > :after
UNION ALL
SELECT NULL, number, 1, changed, at, 5, session_ref, 0, terms, 1
FROM messages
WHERE owner = :owner AND persona_id = :persona_id AND changed > :after
UNION ALL
SELECT
    root_id, number, version, changed, updated_at, importance, NULL,
    CASE WHEN standing = 0 THEN 1 ELSE 0 END, terms, 2
FROM fact_heads
WHERE owner = :owner AND persona_token = :persona_token AND changed > :after;

-- name: list_found_messages(owner, persona_id, numbers)
SELECT number, session_ref, seq, id, role, at, content, details
FROM messages
WHERE owner = :owner AND persona_id = :persona_id AND number IN list(:numbers);

-- name: list_found_facts(owner, persona_token, numbers)
SELECT head.number, head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM fact_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'fact' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.persona_token = :persona_token AND head.number IN list(:numbers);

-- name: list_memories_by_number(owner, persona_id, numbers)
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND number IN list(:numbers);

-- name: lock_memory_config(owner, persona_id)^
-- Locks the row, so that changes of a persona's memories are serialised.
SELECT recall, active_limit FROM persona_memory_configs
WHERE owner = :owner AND persona_id = :persona_id
FOR NO KEY UPDATE;
