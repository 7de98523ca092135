-- Decisions: how active versions are found. The versions themselves are a chain of the kind `decision`.

-- name: save_decision_head(owner, root_id, version, domain_token, strength, created_at)!
INSERT INTO decision_heads (owner, root_id, version, domain_token, strength, created_at)
VALUES (:owner, :root_id, :version, :domain_token, :strength, :created_at)
ON CONFLICT (owner, root_id) DO UPDATE SET
    version = excluded.version,
    domain_token = excluded.domain_token,
    strength = excluded.strength,
    created_at = excluded.created_at;

-- name: list_existing_decisions(owner, root_ids)
SELECT root_id FROM decision_heads WHERE owner = :owner AND root_id IN list(:root_ids);

-- name: list_decision_postings(owner, root_id)
SELECT token FROM decision_index WHERE owner = :owner AND root_id = :root_id;

-- name: remove_decision_postings(owner, token, root_id)*!
DELETE FROM decision_index WHERE owner = :owner AND token = :token AND root_id = :root_id;

-- name: add_decision_postings(owner, token, root_id)*!
INSERT INTO decision_index (owner, token, root_id) VALUES (:owner, :token, :root_id);

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

-- name: erase_decision_index(owner)!
DELETE FROM decision_index WHERE owner = :owner;

-- name: erase_decision_heads(owner)!
DELETE FROM decision_heads WHERE owner = :owner;

-- name: search_decisions(owner, tokens, limit)
-- Active versions with a posting for any of the tokens: most words first, then last changed, then by root.
-- A posting whose decision is gone gives NULLs, so that damage is noticed.
SELECT found.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM (
    SELECT root_id, count(*) AS matched
    FROM decision_index
    WHERE owner = :owner AND token IN list(:tokens)
    GROUP BY root_id
) AS found
LEFT JOIN decision_heads AS head ON head.owner = :owner AND head.root_id = found.root_id
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'decision' AND one.root_id = head.root_id AND one.version = head.version
ORDER BY found.matched DESC, head.created_at DESC, found.root_id
LIMIT :limit;
