-- Remembering an exchange is a job of its own. Jobs in one lane (of a persona) run one at a time, by position.

ALTER TABLE jobs ADD COLUMN lane TEXT CHECK (length(lane) BETWEEN 1 AND 128);
ALTER TABLE jobs ADD COLUMN position INTEGER NOT NULL DEFAULT 0 CHECK (position >= 0);
CREATE INDEX jobs_by_lane ON jobs (owner, lane, position) WHERE lane IS NOT NULL;
CREATE INDEX jobs_by_time ON jobs (owner, created_at, id);

-- How many of the last messages no job was queued for yet that remembers them. 0 for plans that do not queue any.
ALTER TABLE sessions ADD COLUMN unremembered_count INTEGER NOT NULL DEFAULT 0
    CHECK (unremembered_count BETWEEN 0 AND message_count);

-- What a job changed and what it refused, by the id of the job. Sealed: it quotes the conversation.
CREATE TABLE remembered (
    owner      TEXT NOT NULL REFERENCES owners (owner),
    id         BLOB NOT NULL CHECK (length(id) = 16),
    created_at INTEGER NOT NULL CHECK (created_at >= 0),
    result     BLOB NOT NULL CHECK (length(result) > 0),
    PRIMARY KEY (owner, id)
) STRICT;

CREATE INDEX remembered_by_time ON remembered (owner, created_at);
