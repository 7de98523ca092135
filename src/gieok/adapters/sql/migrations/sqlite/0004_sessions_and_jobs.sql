-- The raw log of sessions, how far it is summarised, and the work that is done later.

ALTER TABLE sessions ADD COLUMN persona_id TEXT CHECK (length(persona_id) BETWEEN 1 AND 128);
ALTER TABLE sessions ADD COLUMN account_plan TEXT NOT NULL DEFAULT 'free'
    CHECK (account_plan IN ('free', 'premium'));
ALTER TABLE sessions ADD COLUMN ended_at INTEGER CHECK (ended_at >= 0);
ALTER TABLE sessions ADD COLUMN message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0);
-- Messages up to this number are summarised, or a job is queued for them: the claim that makes it once.
ALTER TABLE sessions ADD COLUMN claimed_count INTEGER NOT NULL DEFAULT 0
    CHECK (claimed_count BETWEEN 0 AND message_count);
-- How many messages a memory covers.
ALTER TABLE sessions ADD COLUMN summarized_count INTEGER NOT NULL DEFAULT 0
    CHECK (summarized_count BETWEEN 0 AND claimed_count);

-- `seq` numbers the messages of a session from 1 without a gap. `at` is when it was said.
CREATE TABLE messages (
    owner       TEXT    NOT NULL,
    session_ref TEXT    NOT NULL,
    seq         INTEGER NOT NULL CHECK (seq >= 1),
    id          TEXT    NOT NULL CHECK (length(id) BETWEEN 1 AND 128),
    role        TEXT    NOT NULL CHECK (role IN ('user', 'assistant')),
    at          INTEGER NOT NULL CHECK (at >= 0),
    content     BLOB    NOT NULL CHECK (length(content) > 0),
    PRIMARY KEY (owner, session_ref, seq),
    UNIQUE (owner, session_ref, id),
    FOREIGN KEY (owner, session_ref) REFERENCES sessions (owner, session_ref)
) STRICT;

-- Background work. A job names a session and its messages and holds no content: workers look across owners here.
-- `due_at` is when a worker may claim it: its time while queued, the end of the lease while running, NULL at the end.
CREATE TABLE jobs (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    kind        TEXT    NOT NULL CHECK (kind IN ('summary', 'watch')),
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

CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_by_session ON jobs (owner, session_ref, first_seq);
