-- The relation graph, as a walk reads it.

-- name: list_impacts(owner, origins, visited, origin, affected, type, from_source, limit)
-- The next edges from one of the origins to a decision that is not visited yet, after the edge named. Of each
-- origin no more are read than can be given back, however many it has. The visited are hashed once.
SELECT edge.origin, edge.affected, edge.type, edge.from_source
FROM unnest(CAST(:origins AS bytea[])) AS wanted (origin)
CROSS JOIN LATERAL (
    SELECT one.origin, one.affected, one.type, one.from_source
    FROM decision_impacts AS one
    WHERE
        one.owner = :owner AND one.origin = wanted.origin
        AND one.affected NOT IN (SELECT unnest(CAST(:visited AS bytea[])))
        AND (one.origin, one.affected, one.type, one.from_source) > (:origin, :affected, :type, :from_source)
    ORDER BY one.affected, one.type, one.from_source
    LIMIT :limit
) AS edge
ORDER BY edge.origin, edge.affected, edge.type, edge.from_source
LIMIT :limit;
