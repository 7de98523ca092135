-- The records of the last cycles of an owner: how a turn of a session or a job ran. No content: ids, counts and times.
-- There are few of an owner, so there is no index by session.
-- Rows are found by the index of the key, which is small, so that counting the newest ones is fast.

CREATE TABLE cycle_records (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    started_at  INTEGER NOT NULL CHECK (started_at >= 0),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    session_ref TEXT    NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    turn_id     TEXT    CHECK (length(turn_id) BETWEEN 1 AND 128),
    job_id      BLOB    CHECK (length(job_id) = 16),
    record      BLOB    NOT NULL CHECK (length(record) > 0),
    PRIMARY KEY (owner, started_at, id)
) STRICT;
