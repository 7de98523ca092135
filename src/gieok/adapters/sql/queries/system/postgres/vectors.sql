-- What crosses owners: claiming personas whose memories wait for vectors.

-- name: claim_personas_to_embed(now, lease_until, space, limit)
-- Those that wait in this space, and those that are of another one, which go over to it. Rows that another worker is
-- claiming, or whose memories are being changed, are passed over.
WITH waiting AS MATERIALIZED (
    SELECT owner, persona_id
    FROM persona_memory_configs
    WHERE last_number > embedded_to AND embed_after <= :now
    ORDER BY embed_after
    LIMIT :limit
    FOR NO KEY UPDATE SKIP LOCKED
),

other AS MATERIALIZED (
    SELECT owner, persona_id
    FROM persona_memory_configs
    WHERE (vector_space < :space OR vector_space > :space) AND embed_after <= :now
    LIMIT :limit
    FOR NO KEY UPDATE SKIP LOCKED
),

due AS (SELECT owner, persona_id FROM waiting UNION SELECT owner, persona_id FROM other LIMIT :limit)

UPDATE persona_memory_configs AS one
SET
    embedded_to = CASE WHEN vector_space = :space THEN embedded_to ELSE 0 END,
    vector_space = :space,
    embed_after = :lease_until
FROM due
WHERE one.owner = due.owner AND one.persona_id = due.persona_id
RETURNING one.owner, one.persona_id;
