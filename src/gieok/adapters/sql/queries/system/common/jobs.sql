-- Across owners: how many jobs are due, and which owners need a job that no request queues.

-- name: count_due_jobs(now, kinds, limit)
SELECT count(*) FROM (SELECT 1 FROM jobs WHERE due_at <= :now AND kind IN list(:kinds) LIMIT :limit) AS due;

-- name: list_owners_with_due_jobs(now, kinds, recent, limit)
-- Those that were not served recently first, then by their oldest job.
SELECT owner
FROM jobs
WHERE due_at <= :now AND kind IN list(:kinds)
GROUP BY owner
ORDER BY CASE WHEN owner IN list(:recent) THEN 1 ELSE 0 END, min(due_at), owner
LIMIT :limit;

-- name: pull_back_jobs(now, soon, late)
-- Jobs that were queued, claimed or put off while a clock was ahead become due now. `soon` is later than any right clock
-- says; `late` is longer than any wait for a retry.
UPDATE jobs
SET status = 'queued', due_at = :now, created_at = CASE WHEN created_at > :now THEN :now ELSE created_at END
WHERE due_at > :soon AND (created_at > :soon OR status = 'running' OR (error IS NOT NULL AND due_at > :late))
RETURNING owner, id;

-- name: list_unfinished_reindexing(analyzer)
-- One row while any owner's search indexes are not of this analyzer yet.
SELECT owner FROM jobs WHERE kind = 'reindex' AND subject = :analyzer AND due_at IS NOT NULL LIMIT 1;

-- name: list_owners_to_reindex(after, analyzer, limit)
-- The next owners by name who have no job for this analyzer. Needs `open_owners` in the same transaction.
SELECT owner
FROM owners
WHERE owner > :after AND NOT EXISTS (
    SELECT 1 FROM jobs WHERE jobs.owner = owners.owner AND jobs.subject = :analyzer AND jobs.kind = 'reindex'
)
ORDER BY owner
LIMIT :limit;

-- name: list_personas_without_vectors(space, limit)
-- Personas with memories or messages that need a vector, or with vectors of another space, and without an unfinished job. A persona
-- may be listed twice. Four queries, because each has an index.
WITH queued AS (SELECT owner, subject FROM jobs WHERE kind = 'embed' AND due_at IS NOT NULL)

SELECT owner, persona_id
FROM persona_memory_configs
WHERE last_number > embedded_to AND (owner, persona_id) NOT IN (SELECT owner, subject FROM queued)
UNION ALL
SELECT owner, persona_id
FROM persona_memory_configs
WHERE last_entry > messages_embedded_to AND (owner, persona_id) NOT IN (SELECT owner, subject FROM queued)
UNION ALL
SELECT owner, persona_id
FROM persona_memory_configs
WHERE vector_space < :space AND (owner, persona_id) NOT IN (SELECT owner, subject FROM queued)
UNION ALL
SELECT owner, persona_id
FROM persona_memory_configs
WHERE vector_space > :space AND (owner, persona_id) NOT IN (SELECT owner, subject FROM queued)
LIMIT :limit;

-- name: list_jobs_of_all(statuses, of_owner, id, limit)
-- The next jobs by owner and id. No subject: it names a session or a persona.
SELECT owner, id, kind, status, attempts, error, due_at, created_at
FROM jobs
WHERE (owner, id) > (:of_owner, :id) AND status IN list(:statuses)
ORDER BY owner, id
LIMIT :limit;

-- name: count_jobs_of_all()
SELECT kind, status, count(*) FROM jobs GROUP BY kind, status ORDER BY kind, status;

-- name: list_used_keys(seals, limit)
-- Owners whose data key has sealed so many values, the most first.
SELECT owner, generation, seals FROM seal_counts WHERE seals >= :seals ORDER BY seals DESC LIMIT :limit;
