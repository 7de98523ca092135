-- Companion memory: holding a persona, and looking up many at once.

-- name: hold_memory_config(owner, persona_id)^
-- It is held, so that units that change a persona's memories come one after the other.
SELECT recall, active_limit, last_number FROM persona_memory_configs
WHERE owner = :owner AND persona_id = :persona_id
FOR NO KEY UPDATE;

-- name: list_memory_terms(owner, tokens, archived)
-- How many memories have each token; archived ones count where `archived` is 1.
SELECT token, sum(memories)
FROM memory_terms
WHERE owner = :owner AND token = ANY(:tokens) AND archived <= :archived
GROUP BY token;

-- name: list_memory_entries(owner, persona_id, numbers)
-- What a score is made of.
SELECT number, terms, words, importance, occurred_at
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND number = ANY(:numbers);

-- name: list_memory_neighbours(owner, persona_id, numbers, archived)
-- The memories before and after each of these in its session. Archived ones count where `archived` is 1.
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
        SELECT next.number
        FROM memories AS next
        WHERE
            next.owner = :owner AND next.persona_id = :persona_id AND next.session_ref = one.session_ref
            AND (next.occurred_at, next.number) > (one.occurred_at, one.number)
            AND (next.archived_at IS NULL OR :archived = 1)
        ORDER BY next.occurred_at, next.number
        LIMIT 1
    )
FROM memories AS one
WHERE one.owner = :owner AND one.persona_id = :persona_id AND one.number = ANY(:numbers);

-- name: list_memories_by_number(owner, persona_id, numbers)
SELECT
    id, persona_id, number, session_ref, origin, importance, created_at, occurred_at, archived_at, version, content
FROM memories
WHERE owner = :owner AND persona_id = :persona_id AND number = ANY(:numbers);
