-- Background work of one owner. Claiming what is due for anyone is in queries/system.

-- name: add_job(owner, id, kind, session_ref, first_seq, last_seq, due_at, created_at)!
-- 0 rows when the job is there already.
INSERT INTO jobs (owner, id, kind, session_ref, first_seq, last_seq, status, attempts, fence, due_at, created_at)
VALUES (:owner, :id, :kind, :session_ref, :first_seq, :last_seq, 'queued', 0, 0, :due_at, :created_at)
ON CONFLICT (owner, id) DO NOTHING;

-- name: get_job(owner, id)^
SELECT id, kind, session_ref, first_seq, last_seq, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND id = :id;

-- name: list_unfinished_jobs(owner, session_ref)
-- The summaries of a session that have made nothing yet.
SELECT id, kind, session_ref, first_seq, last_seq, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND session_ref = :session_ref AND kind = 'summary' AND memory_id IS NULL
ORDER BY first_seq;

-- name: claim_job(owner, id, now, lease_until)^
-- No row when it is not due, or another worker holds it.
UPDATE jobs
SET status = 'running', attempts = attempts + 1, fence = fence + 1, due_at = :lease_until
WHERE owner = :owner AND id = :id AND due_at <= :now
RETURNING id, kind, session_ref, first_seq, last_seq, status, attempts, fence, due_at, error, memory_id, created_at;

-- name: settle_job(owner, id, fence, status, attempts, due_at, error, memory_id)!
-- 0 rows when another worker has claimed it since.
UPDATE jobs
SET status = :status, attempts = :attempts, due_at = :due_at, error = :error,
    memory_id = coalesce(:memory_id, memory_id)
WHERE owner = :owner AND id = :id AND fence = :fence AND status = 'running';

-- name: revive_jobs(owner, session_ref, at)!
-- What failed, and what waits for another try: both are due now.
UPDATE jobs SET status = 'queued', attempts = 0, due_at = :at, error = NULL
WHERE owner = :owner AND session_ref = :session_ref AND kind = 'summary' AND memory_id IS NULL
  AND (status = 'failed' OR (status = 'queued' AND due_at > :at));

-- name: erase_jobs(owner)!
DELETE FROM jobs WHERE owner = :owner;
