-- Turn memory: search by tokens of the blind index.

-- name: list_turn_candidates(owner, tokens)
-- The memories with a posting for any of the tokens, and the numbers of the matching keywords: most matching
-- keywords first, then newest.
SELECT found.id, found.at, memory.session_ref, memory.summary, memory.keywords, found.numbers
FROM (
    SELECT id, at, group_concat(DISTINCT keyword) AS numbers, count(DISTINCT keyword) AS hopeful
    FROM turn_memory_index
    WHERE owner = :owner AND token IN list(:tokens)
    GROUP BY at, id
) AS found
LEFT JOIN turn_memories AS memory ON memory.owner = :owner AND memory.id = found.id AND memory.at = found.at
ORDER BY found.hopeful DESC, found.at DESC, found.id;
