-- The records of the last cycles of an owner: how a turn of a session or a job ran. No content: ids, counts and times.
-- There are few of an owner, so there is no index by session.

CREATE TABLE cycle_records (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    started_at  bigint NOT NULL CHECK (started_at >= 0),
    id          bytea NOT NULL CHECK (octet_length(id) = 16),
    session_ref text COLLATE "C" NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    turn_id     text COLLATE "C" CHECK (length(turn_id) BETWEEN 1 AND 128),
    job_id      bytea CHECK (octet_length(job_id) = 16),
    record      bytea NOT NULL CHECK (octet_length(record) > 0),
    PRIMARY KEY (owner, started_at, id)
);

ALTER TABLE cycle_records ENABLE ROW LEVEL SECURITY;
ALTER TABLE cycle_records FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON cycle_records
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
