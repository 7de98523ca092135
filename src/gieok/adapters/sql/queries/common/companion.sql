-- Companion memory: settings and counts, memories, moments. A memory is changed only while its persona is locked.

-- name: add_memory_config(owner, persona_id)!
-- The row of a persona without one, with default settings.
INSERT INTO persona_memory_configs
    (owner, persona_id, recall, active_limit, last_number, active, archived, words_active, words_archived)
VALUES (:owner, :persona_id, 1, NULL, 0, 0, 0, 0, 0)
ON CONFLICT (owner, persona_id) DO NOTHING;

-- name: get_memory_state(owner, persona_id)^
-- Settings, revision and counts of a persona.
SELECT recall, active_limit, revision, last_number, active, archived, words_active, words_archived
FROM persona_memory_configs
WHERE owner = :owner AND persona_id = :persona_id;

-- name: set_memory_config(owner, persona_id, recall, active_limit)!
UPDATE persona_memory_configs SET recall = :recall, active_limit = :active_limit
WHERE owner = :owner AND persona_id = :persona_id;

-- name: sum_memory_counts(owner)^
SELECT coalesce(sum(active), 0), coalesce(sum(archived), 0) FROM persona_memory_configs WHERE owner = :owner;

-- name: change_memory_counts(owner, persona_id, created, active, archived, words_active, words_archived)!
-- Adds to each count; values may be negative. Every change of a memory runs this.
UPDATE persona_memory_configs
SET
    revision = revision + 1,
    last_number = last_number + :created,
    active = active + :active,
    archived = archived + :archived,
    words_active = words_active + :words_active,
    words_archived = words_archived + :words_archived
WHERE owner = :owner AND persona_id = :persona_id;

-- name: add_memory(owner, id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, topic_token, words, terms, content)!
-- 0 rows if the id exists.
INSERT INTO memories
    (owner, id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version,
     topic_token, words, terms, content)
VALUES
    (:owner, :id, :persona_id, :number, :session_ref, :origin, :importance, :created_at, :occurred_at, :archived_at,
     :version, :topic_token, :words, :terms, :content)
ON CONFLICT (owner, id) DO NOTHING;

-- name: get_memory(owner, id)^
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND id = :id;

-- name: get_memory_index(owner, id)^
-- The index entry of a memory.
SELECT persona_id, number, archived_at, words, terms FROM memories WHERE owner = :owner AND id = :id;

-- name: replace_memory(owner, id, origin, importance, version, topic_token, words, terms, content)!
-- 0 rows if the stored version is not the previous one.
UPDATE memories
SET
    origin = :origin, importance = :importance, version = :version, topic_token = :topic_token, words = :words,
    terms = :terms, content = :content
WHERE owner = :owner AND id = :id AND version = :version - 1;

-- name: set_memory_archived(owner, id, archived_at)!
UPDATE memories SET archived_at = :archived_at WHERE owner = :owner AND id = :id;

-- name: remove_memory(owner, id)!
DELETE FROM memories WHERE owner = :owner AND id = :id;

-- name: get_memory_rank_key(owner, id)^
SELECT id, importance, created_at, number, topic_token FROM memories WHERE owner = :owner AND id = :id;

-- name: list_active_rank_keys(owner, persona_id)
SELECT id, importance, created_at, number, topic_token
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

-- name: list_moments(owner, persona_id, limit, offset)
SELECT id, persona_id, memory_id, intensity, at, content
FROM emotional_moments
WHERE owner = :owner AND persona_id = :persona_id
ORDER BY at DESC, id
LIMIT :limit OFFSET :offset;

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

-- name: erase_memory_terms(owner)!
DELETE FROM memory_terms WHERE owner = :owner;

-- name: erase_memory_postings(owner)!
DELETE FROM memory_postings WHERE owner = :owner;

-- name: erase_memories(owner)!
DELETE FROM memories WHERE owner = :owner;

-- name: erase_persona_memory_configs(owner)!
DELETE FROM persona_memory_configs WHERE owner = :owner;

-- name: list_memory_terms(owner, tokens, archived)
-- How many memories have each token; archived ones count if `archived` is 1.
SELECT token, sum(memories)
FROM memory_terms
WHERE owner = :owner AND token IN list(:tokens) AND archived <= :archived
GROUP BY token;

-- name: list_memory_entries(owner, persona_id, numbers)
-- The columns that ranking uses besides words.
SELECT number, importance, occurred_at, session_ref
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND number IN list(:numbers);

-- name: list_memory_neighbours(owner, persona_id, numbers, archived)
-- The two memories before and the two after each of these in its session. Archived ones count if `archived` is 1.
SELECT
    one.number,
    (
        SELECT before.number
        FROM memories AS before
        WHERE
            before.owner = :owner AND before.persona_id = :persona_id AND before.session_ref = one.session_ref
            AND (before.occurred_at, before.number) < (one.occurred_at, one.number)
            AND (before.archived_at IS NULL OR :archived = 1)
        ORDER BY before.occurred_at DESC, before.number DESC
        LIMIT 1
    ),
    (
        SELECT before.number
        FROM memories AS before
        WHERE
            before.owner = :owner AND before.persona_id = :persona_id AND before.session_ref = one.session_ref
            AND (before.occurred_at, before.number) < (one.occurred_at, one.number)
            AND (before.archived_at IS NULL OR :archived = 1)
        ORDER BY before.occurred_at DESC, before.number DESC
        LIMIT 1 OFFSET 1
    ),
    (
        SELECT next.number
        FROM memories AS next
        WHERE
            next.owner = :owner AND next.persona_id = :persona_id AND next.session_ref = one.session_ref
            AND (next.occurred_at, next.number) > (one.occurred_at, one.number)
            AND (next.archived_at IS NULL OR :archived = 1)
        ORDER BY next.occurred_at, next.number
        LIMIT 1
    ),
    (
        SELECT next.number
        FROM memories AS next
        WHERE
            next.owner = :owner AND next.persona_id = :persona_id AND next.session_ref = one.session_ref
            AND (next.occurred_at, next.number) > (one.occurred_at, one.number)
            AND (next.archived_at IS NULL OR :archived = 1)
        ORDER BY next.occurred_at, next.number
        LIMIT 1 OFFSET 1
    )
FROM memories AS one
WHERE one.owner = :owner AND one.persona_id = :persona_id AND one.number IN list(:numbers);

-- name: list_memories_by_number(owner, persona_id, numbers)
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND number IN list(:numbers);

-- name: lock_memory_config(owner, persona_id)^
-- Locks the row, so that changes of a persona's memories are serialised.
SELECT recall, active_limit, last_number FROM persona_memory_configs
WHERE owner = :owner AND persona_id = :persona_id
FOR NO KEY UPDATE;
