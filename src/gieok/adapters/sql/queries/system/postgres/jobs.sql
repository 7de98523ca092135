-- What crosses owners: claiming work that is due. Only the table of jobs, which holds no content.

-- name: claim_due_jobs(now, lease_until, limit)
-- Queued jobs whose time has come, and running ones whose worker let the lease pass; longest due first.
-- Rows that another worker is claiming at this moment are passed over.
WITH due AS MATERIALIZED (
    SELECT owner, id
    FROM jobs
    WHERE due_at <= :now
    ORDER BY due_at, owner, id
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
)
UPDATE jobs
SET status = 'running', attempts = attempts + 1, fence = fence + 1, due_at = :lease_until
FROM due
WHERE jobs.owner = due.owner AND jobs.id = due.id
RETURNING jobs.owner, jobs.id, kind, session_ref, first_seq, last_seq, status, attempts, fence, due_at, error,
          memory_id, created_at;

-- name: count_due_jobs(now, limit)
-- How many jobs wait whose time has come; counted no further than the limit.
SELECT count(*) FROM (SELECT 1 FROM jobs WHERE due_at <= :now LIMIT :limit) AS due;
