-- The relation graph: what a walk and the guardian read.

-- name: list_impacts(owner, origins, known, origin, affected, type, from_source, limit)
-- The next edges from one of the origins to a decision that is not known yet, after the edge named: the key of
-- the table, in its order.
SELECT origin, affected, type, from_source
FROM decision_impacts
WHERE
    owner = :owner AND origin IN (SELECT unhex(value) FROM json_each(:origins))
    AND affected NOT IN (SELECT unhex(value) FROM json_each(:known))
    AND (origin, affected, type, from_source) > (:origin, :affected, :type, :from_source)
ORDER BY origin, affected, type, from_source
LIMIT :limit;

-- name: list_relations_from(owner, sources, types, limit)
SELECT id, source, type, target
FROM decision_relations
WHERE
    owner = :owner AND source IN (SELECT unhex(value) FROM json_each(:sources))
    AND type IN (SELECT value FROM json_each(:types))
ORDER BY source, type, target
LIMIT :limit;

-- name: list_relations_to(owner, targets, types, limit)
SELECT id, source, type, target
FROM decision_relations
WHERE
    owner = :owner AND target IN (SELECT unhex(value) FROM json_each(:targets))
    AND type IN (SELECT value FROM json_each(:types))
ORDER BY target, type, source
LIMIT :limit;
