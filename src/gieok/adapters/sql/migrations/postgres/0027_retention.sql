-- Raw messages of old sessions may be deleted, oldest first: how many were. The others keep their numbers.

ALTER TABLE sessions ADD COLUMN removed_count INTEGER NOT NULL DEFAULT 0
    CHECK (removed_count BETWEEN 0 AND message_count);

-- Owners take turns: which of them have jobs that are due, and the first of each.
CREATE INDEX jobs_due_by_owner ON jobs (owner, due_at) WHERE due_at IS NOT NULL;
