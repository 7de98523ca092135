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
