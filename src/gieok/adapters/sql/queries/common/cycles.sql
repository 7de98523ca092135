-- The last cycle records of an owner.

-- name: save_cycle(owner, id, started_at, session_ref, turn_id, job_id, record)!
INSERT INTO cycle_records (owner, started_at, id, session_ref, turn_id, job_id, record)
VALUES (:owner, :started_at, :id, :session_ref, :turn_id, :job_id, :record);

-- name: delete_oldest_cycles(owner, keep, limit)!
-- Rows that another commit is deleting are left to it, so that commits of one owner do not wait for each other.
DELETE FROM cycle_records
WHERE owner = :owner AND (started_at, id) IN (
    SELECT started_at, id FROM cycle_records
    WHERE owner = :owner
    ORDER BY started_at DESC, id DESC
    LIMIT :limit OFFSET :keep
    FOR UPDATE SKIP LOCKED
);

-- name: list_cycles(owner, session_ref, turn_id, job_id, started_at, id, limit)
SELECT id, started_at, turn_id, job_id, record
FROM cycle_records
WHERE owner = :owner AND session_ref = :session_ref
    AND (CAST(:turn_id AS text) IS NULL OR turn_id = :turn_id)
    AND (CAST(:job_id AS bytea) IS NULL OR job_id = :job_id)
    AND (started_at < :started_at OR (started_at = :started_at AND id < :id))
ORDER BY started_at DESC, id DESC
LIMIT :limit;

-- name: remove_session_cycles(owner, session_ref)!
DELETE FROM cycle_records WHERE owner = :owner AND session_ref = :session_ref;

-- name: remove_turn_cycles(owner, session_ref, ids, first)!
-- The records of withdrawn turns, and of the jobs that worked on messages from number `first` on.
DELETE FROM cycle_records
WHERE owner = :owner AND session_ref = :session_ref
    AND (
        turn_id IN list(:ids)
        OR job_id IN (
            SELECT jobs.id FROM jobs
            WHERE jobs.owner = :owner AND jobs.subject = :session_ref AND jobs.last_seq >= :first
        )
    );

-- name: erase_cycle_records(owner)!
DELETE FROM cycle_records WHERE owner = :owner;
