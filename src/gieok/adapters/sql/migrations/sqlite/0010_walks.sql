-- Deep walks through decisions that are done in the background, and jobs of kinds that are yet to come.

-- SQLite cannot change a CHECK in place: which kinds there are is for the program to say, from now on.
CREATE TABLE jobs_of_any_kind (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    kind        TEXT    NOT NULL CHECK (length(kind) BETWEEN 1 AND 32),
    session_ref TEXT    NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    first_seq   INTEGER NOT NULL CHECK (first_seq >= 0),
    last_seq    INTEGER NOT NULL CHECK (last_seq >= first_seq),
    status      TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
    attempts    INTEGER NOT NULL CHECK (attempts >= 0),
    fence       INTEGER NOT NULL CHECK (fence >= 0),
    due_at      INTEGER CHECK ((due_at IS NOT NULL) = (status IN ('queued', 'running'))),
    error       TEXT    CHECK (length(error) BETWEEN 1 AND 64),
    memory_id   BLOB    CHECK (length(memory_id) = 16),
    created_at  INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

INSERT INTO jobs_of_any_kind SELECT * FROM jobs;
DROP TABLE jobs;
ALTER TABLE jobs_of_any_kind RENAME TO jobs;

CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_by_session ON jobs (owner, session_ref, first_seq);

-- What a walk found, by the id of its job. `found` is sealed: ids in their order, each with the anchor that led there.
CREATE TABLE decision_walks (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    created_at INTEGER NOT NULL CHECK (created_at >= 0),
    found      BLOB    NOT NULL CHECK (length(found) > 0),
    PRIMARY KEY (owner, id)
) STRICT;
