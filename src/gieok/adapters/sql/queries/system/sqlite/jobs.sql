-- Across owners: claiming jobs that are due. The table of jobs holds no content.

-- name: claim_due_jobs(now, lease_until, kinds, limit)
-- Queued jobs that are due, and running jobs whose lease has expired; the longest due first. Of the jobs in a lane
-- only the first.
-- SQLite has one writer, so no two workers claim at once.
UPDATE jobs
SET status = 'running', attempts = attempts + 1, fence = fence + 1, due_at = :lease_until
WHERE (owner, id) IN (
    SELECT owner, id
    FROM jobs
    WHERE due_at <= :now AND kind IN list(:kinds) AND NOT EXISTS (
        SELECT 1 FROM jobs AS before
        WHERE before.owner = jobs.owner AND before.lane = jobs.lane AND before.due_at IS NOT NULL
          AND (before.position, before.subject, before.first_seq) < (jobs.position, jobs.subject, jobs.first_seq)
    )
    ORDER BY due_at, owner, id
    LIMIT :limit
)
RETURNING owner, id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at;

-- name: claim_first_job(of_owner, now, lease_until, kinds)
-- The same for the first job of one owner.
UPDATE jobs
SET status = 'running', attempts = attempts + 1, fence = fence + 1, due_at = :lease_until
WHERE (owner, id) IN (
    SELECT owner, id
    FROM jobs
    WHERE owner = :of_owner AND due_at <= :now AND kind IN list(:kinds) AND NOT EXISTS (
        SELECT 1 FROM jobs AS before
        WHERE before.owner = jobs.owner AND before.lane = jobs.lane AND before.due_at IS NOT NULL
          AND (before.position, before.subject, before.first_seq) < (jobs.position, jobs.subject, jobs.first_seq)
    )
    ORDER BY due_at, owner, id
    LIMIT 1
)
RETURNING owner, id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at;
