-- The relation graph, as a walk reads it.

-- name: list_impacts(owner, origins, visited, origin, affected, type, from_source, limit)
-- The next edges from one of the origins to a decision that is not visited yet, after the edge named: the key of
-- the table, in its order. No origin is before the one named. CASE spares SQLite what NOT IN does in case a member
-- is NULL, a tenth of a walk, and most edges the second look.
SELECT origin, affected, type, from_source
FROM decision_impacts
WHERE
    owner = :owner AND origin IN list(:origins)
    AND CASE WHEN affected IN list(:visited) THEN 0 ELSE 1 END
    AND CASE WHEN origin = :origin THEN (affected, type, from_source) > (:affected, :type, :from_source) ELSE 1 END
ORDER BY origin, affected, type, from_source
LIMIT :limit;
