-- What crosses owners: claiming work that is due. Only the table of jobs, which holds no content.

-- name: claim_due_jobs(now, lease_until, limit)
-- Queued jobs whose time has come, and running ones whose worker let the lease pass; longest due first.
-- SQLite has one writer, so no two workers are here at once.
UPDATE jobs
SET status = 'running', attempts = attempts + 1, fence = fence + 1, due_at = :lease_until
WHERE (owner, id) IN (
    SELECT owner, id
    FROM jobs
    WHERE due_at <= :now
    ORDER BY due_at, owner, id
    LIMIT :limit
)
RETURNING owner, id, kind, session_ref, first_seq, last_seq, status, attempts, fence, due_at, error, memory_id,
          created_at;

-- name: count_due_jobs(now, limit)
-- How many jobs wait whose time has come; counted no further than the limit.
SELECT count(*) FROM (SELECT 1 FROM jobs WHERE due_at <= :now LIMIT :limit);
