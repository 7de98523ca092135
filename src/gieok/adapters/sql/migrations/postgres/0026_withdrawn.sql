-- A withdrawn message stays in the log, and nowhere else.

ALTER TABLE messages ADD COLUMN withdrawn_at bigint CHECK (withdrawn_at >= 0);
-- How many messages of the session are withdrawn. `message_count` includes them: it is the length of the log.
ALTER TABLE sessions ADD COLUMN withdrawn_count bigint NOT NULL DEFAULT 0
    CHECK (withdrawn_count BETWEEN 0 AND message_count);
-- The last message of the exchange that a turn memory is about. NULL in those of older versions.
ALTER TABLE turn_memories ADD COLUMN message_id text COLLATE "C" CHECK (length(message_id) BETWEEN 1 AND 128);
