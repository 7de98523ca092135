-- Relations between decisions: as they were declared, and in the direction of impact.

-- name: add_relation(owner, id, source, type, target)!
-- 0 rows when the same relation was declared before.
INSERT INTO decision_relations (owner, id, source, type, target)
VALUES (:owner, :id, :source, :type, :target)
ON CONFLICT (owner, source, type, target) DO NOTHING;

-- name: find_relation(owner, source, type, target)^
SELECT id, source, type, target
FROM decision_relations
WHERE owner = :owner AND source = :source AND type = :type AND target = :target;

-- name: get_relation(owner, id)^
SELECT id, source, type, target FROM decision_relations WHERE owner = :owner AND id = :id;

-- name: remove_relation(owner, id)!
DELETE FROM decision_relations WHERE owner = :owner AND id = :id;

-- name: add_impacts(owner, origin, affected, type, from_source)*!
INSERT INTO decision_impacts (owner, origin, affected, type, from_source)
VALUES (:owner, :origin, :affected, :type, :from_source);

-- name: remove_impacts(owner, origin, affected, type, from_source)*!
DELETE FROM decision_impacts
WHERE
    owner = :owner AND origin = :origin AND affected = :affected
    AND type = :type AND from_source = :from_source;

-- name: erase_decision_relations(owner)!
DELETE FROM decision_relations WHERE owner = :owner;

-- name: erase_decision_impacts(owner)!
DELETE FROM decision_impacts WHERE owner = :owner;

-- name: list_relations_touching(owner, root_ids, limit)
SELECT id, source, type, target
FROM decision_relations
WHERE owner = :owner AND source IN list(:root_ids)
UNION
SELECT id, source, type, target
FROM decision_relations
WHERE owner = :owner AND target IN list(:root_ids)
ORDER BY id
LIMIT :limit;
