-- Decisions: finding by tokens of the blind index.

-- name: search_decisions(owner, tokens, limit)
-- Active versions with a posting for any of the tokens: most words first, then last changed, then by root.
-- A posting whose decision is gone gives NULLs, so that damage is noticed.
SELECT found.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM (
    SELECT root_id, count(*) AS matched
    FROM decision_index
    WHERE owner = :owner AND token IN (SELECT value FROM json_each(:tokens))
    GROUP BY root_id
) AS found
LEFT JOIN decision_heads AS head ON head.owner = :owner AND head.root_id = found.root_id
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'decision' AND one.root_id = head.root_id AND one.version = head.version
ORDER BY found.matched DESC, head.created_at DESC, found.root_id
LIMIT :limit;
