-- Decisions: how active versions are found. The versions themselves are a chain of the kind `decision`.

-- name: save_decision_head(owner, root_id, version, domain_token, strength, created_at, terms, changed)!
INSERT INTO decision_heads (owner, root_id, version, domain_token, strength, created_at, terms, changed)
VALUES (:owner, :root_id, :version, :domain_token, :strength, :created_at, :terms, :changed)
ON CONFLICT (owner, root_id) DO UPDATE SET
    version = excluded.version,
    domain_token = excluded.domain_token,
    strength = excluded.strength,
    created_at = excluded.created_at,
    terms = excluded.terms,
    changed = excluded.changed;

-- name: get_decision_domain(owner, root_id)^
SELECT domain_token FROM decision_heads WHERE owner = :owner AND root_id = :root_id;

-- name: list_decision_index(owner, domain_token, after)
-- The index rows of a domain that were written or changed after a revision.
SELECT root_id, changed, version, changed, created_at, 0, NULL, 0, terms
FROM decision_heads
WHERE owner = :owner AND domain_token = :domain_token AND changed > :after
ORDER BY changed;

-- name: list_existing_decisions(owner, root_ids)
SELECT root_id FROM decision_heads WHERE owner = :owner AND root_id IN list(:root_ids);

-- name: list_decisions_of_domain(owner, domain_token, strength, created_at, root_id, limit)
-- Active versions of one domain and strength that stand after this place: last changed first, then by root.
SELECT head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM decision_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'decision' AND one.root_id = head.root_id AND one.version = head.version
WHERE
    head.owner = :owner AND head.domain_token = :domain_token AND head.strength = :strength
    AND head.created_at <= :created_at AND NOT (head.created_at = :created_at AND head.root_id <= :root_id)
ORDER BY head.created_at DESC, head.root_id
LIMIT :limit;

-- name: list_decisions_of_strength(owner, strength, created_at, root_id, limit)
-- The same over every domain and the global ones.
SELECT head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM decision_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'decision' AND one.root_id = head.root_id AND one.version = head.version
WHERE
    head.owner = :owner AND head.strength = :strength
    AND head.created_at <= :created_at AND NOT (head.created_at = :created_at AND head.root_id <= :root_id)
ORDER BY head.created_at DESC, head.root_id
LIMIT :limit;

-- name: list_decisions_in_domains(owner, strength, created_at, root_id, limit)
-- The same over every domain, without the global ones.
SELECT head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM decision_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'decision' AND one.root_id = head.root_id AND one.version = head.version
WHERE
    head.owner = :owner AND head.strength = :strength AND head.domain_token <> 0
    AND head.created_at <= :created_at AND NOT (head.created_at = :created_at AND head.root_id <= :root_id)
ORDER BY head.created_at DESC, head.root_id
LIMIT :limit;

-- name: erase_decision_heads(owner)!
DELETE FROM decision_heads WHERE owner = :owner;

-- name: list_decision_heads(owner, root_ids)
-- The active versions of these decisions.
SELECT head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM decision_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'decision' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.root_id IN list(:root_ids);
