-- The relation graph, as a walk reads it.

-- name: list_impacts(owner, origins, known, origin, affected, type, from_source, limit)
-- The next edges from one of the origins to a decision that is not known yet, after the edge named: the key of
-- the table, in its order.
SELECT origin, affected, type, from_source
FROM decision_impacts
WHERE
    owner = :owner AND origin IN list(:origins) AND affected NOT IN list(:known)
    AND (origin, affected, type, from_source) > (:origin, :affected, :type, :from_source)
ORDER BY origin, affected, type, from_source
LIMIT :limit;
