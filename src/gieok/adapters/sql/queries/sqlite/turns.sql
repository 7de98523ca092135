-- Turn memory: finding by tokens of the blind index.

-- name: search_turn_memories(owner, tokens, top_k)
-- The memories with a posting for any of the tokens: most keywords first, then newest.
-- A posting whose memory is gone gives NULLs, so that damage is noticed.
SELECT found.id, found.at, memory.session_ref, memory.summary
FROM (
    SELECT id, at, count(DISTINCT keyword) AS matched
    FROM turn_memory_index
    WHERE owner = :owner AND token IN (SELECT value FROM json_each(:tokens))
    GROUP BY at, id
    ORDER BY matched DESC, at DESC, id
    LIMIT :top_k
) AS found
LEFT JOIN turn_memories AS memory ON memory.owner = :owner AND memory.id = found.id AND memory.at = found.at
ORDER BY found.matched DESC, found.at DESC, found.id;

-- name: list_turn_candidates(owner, tokens)
-- The memories with a posting for any of the tokens and the numbers of those keywords, for a closer look at
-- them: those with the most such keywords first, then the newest.
SELECT found.id, found.at, memory.session_ref, memory.summary, memory.keywords, found.numbers
FROM (
    SELECT id, at, group_concat(DISTINCT keyword) AS numbers, count(DISTINCT keyword) AS hopeful
    FROM turn_memory_index
    WHERE owner = :owner AND token IN (SELECT value FROM json_each(:tokens))
    GROUP BY at, id
) AS found
LEFT JOIN turn_memories AS memory ON memory.owner = :owner AND memory.id = found.id AND memory.at = found.at
ORDER BY found.hopeful DESC, found.at DESC, found.id;
