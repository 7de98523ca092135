-- Where decisions stand, without opening them.

-- name: list_domain_roots(owner, domain_token, strength, limit)
SELECT root_id
FROM decision_heads
WHERE owner = :owner AND domain_token = :domain_token AND strength = :strength
ORDER BY created_at DESC, root_id
LIMIT :limit;

-- name: count_domain_decisions(owner, domain_token, strength)^
SELECT count(*)
FROM decision_heads
WHERE owner = :owner AND domain_token = :domain_token AND strength = :strength;

-- name: list_relations_from(owner, sources, types, limit)
SELECT id, source, type, target
FROM decision_relations
WHERE
    owner = :owner AND source IN list(:sources)
    AND type IN list(:types)
ORDER BY source, type, target
LIMIT :limit;

-- name: list_relations_to(owner, targets, types, limit)
SELECT id, source, type, target
FROM decision_relations
WHERE
    owner = :owner AND target IN list(:targets)
    AND type IN list(:types)
ORDER BY target, type, source
LIMIT :limit;
