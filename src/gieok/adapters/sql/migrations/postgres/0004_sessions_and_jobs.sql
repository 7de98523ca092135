-- The raw log of sessions, how far it is summarised, and the work that is done later.

ALTER TABLE sessions ADD COLUMN persona_id text COLLATE "C" CHECK (length(persona_id) BETWEEN 1 AND 128);
ALTER TABLE sessions ADD COLUMN account_plan text NOT NULL DEFAULT 'free'
    CHECK (account_plan IN ('free', 'premium'));
ALTER TABLE sessions ADD COLUMN ended_at bigint CHECK (ended_at >= 0);
ALTER TABLE sessions ADD COLUMN message_count bigint NOT NULL DEFAULT 0 CHECK (message_count >= 0);
-- Messages up to this number are summarised, or a job is queued for them: the claim that makes it once.
ALTER TABLE sessions ADD COLUMN claimed_count bigint NOT NULL DEFAULT 0
    CHECK (claimed_count BETWEEN 0 AND message_count);
-- How many messages a memory covers.
ALTER TABLE sessions ADD COLUMN summarized_count bigint NOT NULL DEFAULT 0
    CHECK (summarized_count BETWEEN 0 AND claimed_count);

-- `seq` numbers the messages of a session from 1 without a gap. `at` is when it was said.
CREATE TABLE messages (
    owner       text COLLATE "C" NOT NULL,
    session_ref text COLLATE "C" NOT NULL,
    seq         bigint NOT NULL CHECK (seq >= 1),
    id          text COLLATE "C" NOT NULL CHECK (length(id) BETWEEN 1 AND 128),
    role        text NOT NULL CHECK (role IN ('user', 'assistant')),
    at          bigint NOT NULL CHECK (at >= 0),
    content     bytea NOT NULL CHECK (octet_length(content) > 0),
    PRIMARY KEY (owner, session_ref, seq),
    UNIQUE (owner, session_ref, id),
    FOREIGN KEY (owner, session_ref) REFERENCES sessions (owner, session_ref)
);

-- Background work. A job names a session and its messages and holds no content: workers look across owners here.
-- `due_at` is when a worker may claim it: its time while queued, the end of the lease while running, NULL at the end.
CREATE TABLE jobs (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id          bytea NOT NULL CHECK (octet_length(id) = 16),
    kind        text NOT NULL CHECK (kind IN ('summary', 'watch')),
    session_ref text COLLATE "C" NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    first_seq   bigint NOT NULL CHECK (first_seq >= 0),
    last_seq    bigint NOT NULL CHECK (last_seq >= first_seq),
    status      text NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
    attempts    integer NOT NULL CHECK (attempts >= 0),
    fence       bigint NOT NULL CHECK (fence >= 0),
    due_at      bigint CHECK ((due_at IS NOT NULL) = (status IN ('queued', 'running'))),
    error       text CHECK (length(error) BETWEEN 1 AND 64),
    memory_id   bytea CHECK (octet_length(memory_id) = 16),
    created_at  bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id)
);

CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_by_session ON jobs (owner, session_ref, first_seq);

ALTER TABLE messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE messages FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON messages
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON jobs
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

-- The one door across owners: a worker sees and claims jobs. It can neither add nor remove them.
CREATE POLICY worker_sees ON jobs FOR SELECT USING (current_setting('gieok.worker', true) = 'on');
CREATE POLICY worker_claims ON jobs FOR UPDATE USING (current_setting('gieok.worker', true) = 'on');
