-- Relations: those around several decisions at once.

-- name: list_relations_touching(owner, root_ids, limit)
SELECT id, source, type, target
FROM decision_relations
WHERE owner = :owner AND source IN (SELECT unhex(value) FROM json_each(:root_ids))
UNION
SELECT id, source, type, target
FROM decision_relations
WHERE owner = :owner AND target IN (SELECT unhex(value) FROM json_each(:root_ids))
ORDER BY id
LIMIT :limit;
