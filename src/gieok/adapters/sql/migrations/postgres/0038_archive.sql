-- The text of the first messages of an old session may be in the archive only: of how many. Their rows stay.

ALTER TABLE sessions ADD COLUMN archived_count INTEGER NOT NULL DEFAULT 0
    CHECK (archived_count BETWEEN 0 AND message_count);
