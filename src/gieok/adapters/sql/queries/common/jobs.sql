-- Background jobs of one owner. Claiming due jobs of any owner is in queries/system.

-- name: add_job(owner, id, kind, subject, first_seq, last_seq, lane, due_at, created_at)!
-- 0 rows when the job exists. Two transactions at once may give the same position; then subject and first_seq decide.
INSERT INTO jobs
    (owner, id, kind, subject, first_seq, last_seq, lane, position, status, attempts, fence, due_at, created_at)
SELECT :owner, :id, :kind, :subject, :first_seq, :last_seq, :lane, 1 + coalesce(max(position), 0), 'queued', 0, 0,
       :due_at, :created_at
FROM jobs
WHERE owner = :owner AND lane = :lane
ON CONFLICT (owner, id) DO NOTHING;

-- name: requeue_job(owner, id, kind, subject, first_seq, last_seq, due_at, created_at)!
-- 0 rows when the job exists with this subject and is not finished. The fence stops a worker on the old subject.
INSERT INTO jobs (owner, id, kind, subject, first_seq, last_seq, status, attempts, fence, due_at, created_at)
VALUES (:owner, :id, :kind, :subject, :first_seq, :last_seq, 'queued', 0, 0, :due_at, :created_at)
ON CONFLICT (owner, id) DO UPDATE
SET
    subject = excluded.subject, status = 'queued', attempts = 0, fence = jobs.fence + 1, due_at = excluded.due_at,
    error = NULL
WHERE jobs.due_at IS NULL OR jobs.subject <> excluded.subject;

-- name: get_job(owner, id)^
SELECT id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND id = :id;

-- name: list_unfinished_summaries(owner, session_ref)
-- The summaries of a session that have made no memory yet, and may still make one.
SELECT id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND subject = :session_ref AND kind = 'summary' AND memory_id IS NULL
  AND status <> 'done'
ORDER BY first_seq;

-- name: list_summaries(owner, session_ref)
-- The summaries of a session that have made a memory.
SELECT id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND subject = :session_ref AND kind = 'summary' AND memory_id IS NOT NULL
ORDER BY first_seq;

-- name: claim_job(owner, id, now, lease_until)^
-- No row when it is not due, another job of its lane is before it, or another worker has claimed it.
UPDATE jobs
SET status = 'running', attempts = attempts + 1, fence = fence + 1, due_at = :lease_until
WHERE owner = :owner AND id = :id AND due_at <= :now AND NOT EXISTS (
    SELECT 1 FROM jobs AS before
    WHERE before.owner = jobs.owner AND before.lane = jobs.lane AND before.due_at IS NOT NULL
      AND (before.position, before.subject, before.first_seq) < (jobs.position, jobs.subject, jobs.first_seq)
  )
RETURNING id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at;

-- name: get_first_job(owner, lane)^
SELECT id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND lane = :lane AND due_at IS NOT NULL
ORDER BY position, subject, first_seq
LIMIT 1;

-- name: list_jobs(owner, created_at, id, limit)
-- Newest first, before this time and id.
SELECT id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND (created_at, id) < (:created_at, :id)
ORDER BY created_at DESC, id DESC
LIMIT :limit;

-- name: list_jobs_by_status(owner, status, created_at, id, limit)
SELECT id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND status = :status AND (created_at, id) < (:created_at, :id)
ORDER BY created_at DESC, id DESC
LIMIT :limit;

-- name: retry_job(owner, id, at)!
-- 0 rows when it has not failed.
UPDATE jobs SET status = 'queued', attempts = 0, due_at = :at, error = NULL
WHERE owner = :owner AND id = :id AND status = 'failed';

-- name: settle_job(owner, id, fence, status, attempts, due_at, error, memory_id)!
-- 0 rows when another worker has claimed it since. A job that is done may have found that there is nothing to keep.
UPDATE jobs
SET status = :status, attempts = :attempts, due_at = :due_at, error = :error,
    memory_id = CASE WHEN :status = 'done' THEN :memory_id ELSE coalesce(:memory_id, memory_id) END
WHERE owner = :owner AND id = :id AND fence = :fence AND status = 'running';

-- name: list_jobs_of_messages(owner, kind, session_ref, first)
SELECT id, kind, subject, first_seq, last_seq, lane, status, attempts, fence, due_at, error, memory_id, created_at
FROM jobs
WHERE owner = :owner AND subject = :session_ref AND kind = :kind AND last_seq >= :first
ORDER BY first_seq, id
FOR UPDATE;

-- name: override_job(owner, id, last_seq, status, due_at, error, memory_id)!
-- The fence stops a worker that runs it.
UPDATE jobs
SET status = :status, last_seq = :last_seq, attempts = 0, fence = fence + 1, due_at = :due_at, error = :error,
    memory_id = :memory_id
WHERE owner = :owner AND id = :id;

-- name: retry_summary_jobs(owner, session_ref, at)!
-- Failed summaries, and those that wait for a retry, become due now.
UPDATE jobs SET status = 'queued', attempts = 0, due_at = :at, error = NULL
WHERE owner = :owner AND subject = :session_ref AND kind = 'summary' AND memory_id IS NULL
  AND (status = 'failed' OR (status = 'queued' AND due_at > :at));

-- name: delete_finished_jobs(owner, before, limit)!
-- Not those of `reindex`: they say for which analyzer an owner's indexes are made.
DELETE FROM jobs
WHERE owner = :owner AND id IN (
    SELECT id FROM jobs
    WHERE owner = :owner AND created_at < :before AND due_at IS NULL AND kind NOT IN ('watch', 'reindex')
    ORDER BY created_at, id
    LIMIT :limit
);

-- name: delete_finished_watches(owner, before, limit)!
DELETE FROM jobs
WHERE owner = :owner AND id IN (
    SELECT id FROM jobs
    WHERE owner = :owner AND created_at < :before AND due_at IS NULL AND kind = 'watch'
    ORDER BY created_at, id
    LIMIT :limit
);

-- name: erase_jobs(owner)!
DELETE FROM jobs WHERE owner = :owner;
