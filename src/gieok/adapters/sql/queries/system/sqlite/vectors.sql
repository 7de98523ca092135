-- What crosses owners: claiming personas whose memories wait for vectors.

-- name: claim_personas_to_embed(now, lease_until, space, limit)
-- Those that wait in this space, and those that are of another one, which go over to it. SQLite has one writer, so no
-- two workers are here at once.
UPDATE persona_memory_configs
SET
    embedded_to = CASE WHEN vector_space = :space THEN embedded_to ELSE 0 END,
    vector_space = :space,
    embed_after = :lease_until
WHERE (owner, persona_id) IN (
    SELECT owner, persona_id FROM persona_memory_configs WHERE last_number > embedded_to AND embed_after <= :now
    UNION ALL
    SELECT owner, persona_id FROM persona_memory_configs WHERE vector_space < :space AND embed_after <= :now
    UNION ALL
    SELECT owner, persona_id FROM persona_memory_configs WHERE vector_space > :space AND embed_after <= :now
    LIMIT :limit
)
RETURNING owner, persona_id;
