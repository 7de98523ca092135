-- Canon: heads of personas and facts. The versions themselves are chains of the kinds `persona` and `fact`.

-- name: add_persona(owner, persona_id, root_id, created_at)!
-- 0 rows when the id is taken.
INSERT INTO persona_heads (owner, persona_id, root_id, version, created_at)
VALUES (:owner, :persona_id, :root_id, 1, :created_at)
ON CONFLICT (owner, persona_id) DO NOTHING;

-- name: move_persona(owner, persona_id, version)!
UPDATE persona_heads SET version = :version WHERE owner = :owner AND persona_id = :persona_id;

-- name: get_persona_head(owner, persona_id)^
SELECT root_id, created_at FROM persona_heads WHERE owner = :owner AND persona_id = :persona_id;

-- name: get_persona(owner, persona_id)^
-- The active version. A head without its version gives NULLs, so that damage is detected.
SELECT head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM persona_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'persona' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.persona_id = :persona_id;

-- name: get_persona_revision(owner, persona_id)^
-- The active version without its content.
SELECT head.root_id, head.version, one.id, one.form, one.created_at
FROM persona_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'persona' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.persona_id = :persona_id;

-- name: list_personas(owner, created_at, persona_id, limit)
-- Active versions of the personas that were created after this one.
SELECT head.persona_id, head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM persona_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'persona' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND (head.created_at, head.persona_id) > (:created_at, :persona_id)
ORDER BY head.created_at, head.persona_id
LIMIT :limit;

-- name: lock_facts(owner, persona_token)!
-- Counts a change of the persona's facts. The row stays locked, so that concurrent writers run in turn.
INSERT INTO fact_revisions (owner, persona_token, revision) VALUES (:owner, :persona_token, 1)
ON CONFLICT (owner, persona_token) DO UPDATE SET revision = fact_revisions.revision + 1;

-- name: add_fact(owner, key_token, persona_token, root_id, standing, importance, updated_at)!
-- 0 rows when a fact with this token exists.
INSERT INTO fact_heads (owner, key_token, persona_token, root_id, version, standing, importance, updated_at)
VALUES (:owner, :key_token, :persona_token, :root_id, 1, :standing, :importance, :updated_at)
ON CONFLICT (owner, key_token) DO NOTHING;

-- name: move_fact(owner, root_id, version, standing, importance, updated_at)!
UPDATE fact_heads
SET version = :version, standing = :standing, importance = :importance, updated_at = :updated_at
WHERE owner = :owner AND root_id = :root_id;

-- name: index_fact(owner, root_id, number, changed, terms)!
UPDATE fact_heads SET number = :number, changed = :changed, terms = :terms
WHERE owner = :owner AND root_id = :root_id;

-- name: get_fact_number(owner, root_id)^
-- The number of a fact in the index; NULL if it is not indexed yet.
SELECT number FROM fact_heads WHERE owner = :owner AND root_id = :root_id;

-- name: list_facts_to_index(owner, limit)
-- Facts that an older release stored.
SELECT root_id, version, standing FROM fact_heads WHERE owner = :owner AND terms IS NULL ORDER BY root_id LIMIT :limit;

-- name: list_facts_to_reindex(owner, after, limit)
-- The next facts by id.
SELECT root_id, version, standing FROM fact_heads
WHERE owner = :owner AND root_id > :after AND number IS NOT NULL
ORDER BY root_id
LIMIT :limit;

-- name: list_state(owner, persona_token, limit)
-- The active facts that are state: one index range, most important first, then newest.
SELECT head.standing, head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM fact_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'fact' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.persona_token = :persona_token AND head.standing = 2
ORDER BY head.importance DESC, head.updated_at DESC, head.root_id
LIMIT :limit;

-- name: list_facts(owner, persona_token, limit)
-- The same over every active fact.
SELECT head.standing, head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM fact_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'fact' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.persona_token = :persona_token AND head.standing > 0
ORDER BY head.importance DESC, head.updated_at DESC, head.root_id
LIMIT :limit;

-- name: list_facts_as_of(owner, persona_token, at, limit)
-- Of each fact the newest version that was recorded by then. A fact that an older release retired has its last
-- version here too; then the standing is 0, and `updated_at` is when it was retired.
SELECT
    CASE WHEN head.version = one.version THEN head.standing END, head.updated_at,
    one.root_id, one.version, one.id, one.form, one.content, one.created_at
FROM fact_heads AS head
INNER JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'fact' AND one.root_id = head.root_id AND one.created_at <= :at
WHERE
    head.owner = :owner AND head.persona_token = :persona_token
    AND NOT EXISTS (
        SELECT 1 FROM chain_versions AS later
        WHERE
            later.owner = :owner AND later.kind = 'fact' AND later.root_id = one.root_id
            AND later.version > one.version AND later.created_at <= :at
    )
ORDER BY one.root_id
LIMIT :limit;

-- name: list_fact_personas(owner)
SELECT DISTINCT persona_token FROM fact_heads WHERE owner = :owner AND standing > 0 ORDER BY persona_token;

-- name: erase_persona_heads(owner)!
DELETE FROM persona_heads WHERE owner = :owner;

-- name: erase_fact_heads(owner)!
DELETE FROM fact_heads WHERE owner = :owner;

-- name: erase_fact_revisions(owner)!
DELETE FROM fact_revisions WHERE owner = :owner;

-- name: lock_persona(owner, persona_id)^
-- With a row lock, so that concurrent writers run in turn.
SELECT root_id, version FROM persona_heads WHERE owner = :owner AND persona_id = :persona_id
FOR NO KEY UPDATE;

-- name: get_fact_by_token(owner, key_token)^
SELECT root_id, version, standing FROM fact_heads WHERE owner = :owner AND key_token = :key_token;

-- name: get_fact_head(owner, persona_token, root_id)^
SELECT root_id, version, standing FROM fact_heads
WHERE owner = :owner AND persona_token = :persona_token AND root_id = :root_id;

-- name: remove_persona(owner, persona_id)!
DELETE FROM persona_heads WHERE owner = :owner AND persona_id = :persona_id;

-- name: list_fact_roots(owner, persona_token, limit)
-- Retired facts too.
SELECT root_id FROM fact_heads WHERE owner = :owner AND persona_token = :persona_token
ORDER BY updated_at DESC, root_id
LIMIT :limit;

-- name: list_newest_facts(owner, persona_token)
-- The newest version of each fact, of retired ones too.
SELECT head.root_id, head.version, one.id, one.form, one.content, one.created_at, head.standing
FROM fact_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'fact' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.persona_token = :persona_token
ORDER BY head.root_id;

-- name: is_message_withdrawn(owner, session_ref, id)^
SELECT 1 FROM messages
WHERE owner = :owner AND session_ref = :session_ref AND id = :id AND withdrawn_at IS NOT NULL;

-- name: remove_fact(owner, root_id)!
DELETE FROM fact_heads WHERE owner = :owner AND root_id = :root_id;
