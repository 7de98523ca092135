-- Companion memory: episodes, the words by which they are found, the moments that mattered, and the counts.

-- Per persona: what its user set, and counts kept in step with the memories in the same transaction. The row is
-- held by every unit that changes the memories of that persona, so that two of them cannot both take the last place.
-- `words_*` is the sum of the lengths of the memories, for their average.
CREATE TABLE persona_memory_configs (
    owner          text COLLATE "C" NOT NULL REFERENCES owners (owner),
    persona_id     text COLLATE "C" NOT NULL CHECK (length(persona_id) BETWEEN 1 AND 128),
    recall         smallint NOT NULL CHECK (recall IN (0, 1)),
    active_limit   integer CHECK (active_limit >= 1), -- NULL: no limit but the account's
    last_number    bigint NOT NULL CHECK (last_number >= 0),
    active         bigint NOT NULL CHECK (active >= 0),
    archived       bigint NOT NULL CHECK (archived >= 0),
    words_active   bigint NOT NULL CHECK (words_active >= 0),
    words_archived bigint NOT NULL CHECK (words_archived >= 0),
    PRIMARY KEY (owner, persona_id)
);

-- `number` counts the memories of a persona in the order in which they were made. `content` is the sealed summary,
-- topics, emotion, tags and speaker. `topic_token` is a keyed hash of the topics, NULL where there are none.
-- `terms` are the memory's tokens in the blind index with their counts, so that a score needs no other row.
CREATE TABLE memories (
    owner       text COLLATE "C" NOT NULL,
    id          bytea NOT NULL CHECK (octet_length(id) = 16),
    persona_id  text COLLATE "C" NOT NULL,
    number      bigint NOT NULL CHECK (number >= 1),
    session_ref text COLLATE "C" CHECK (length(session_ref) BETWEEN 1 AND 128),
    origin      smallint NOT NULL CHECK (origin BETWEEN 1 AND 3), -- 1 summary, 2 manual, 3 excerpt
    importance  smallint NOT NULL CHECK (importance BETWEEN 1 AND 10),
    created_at  bigint NOT NULL CHECK (created_at >= 0),
    occurred_at bigint NOT NULL CHECK (occurred_at >= 0),
    archived_at bigint CHECK (archived_at >= 0), -- NULL while it is active
    version     integer NOT NULL CHECK (version >= 1),
    topic_token bigint,
    words       integer NOT NULL CHECK (words >= 0),
    terms       bytea NOT NULL,
    content     bytea NOT NULL CHECK (octet_length(content) > 0),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, persona_id, number),
    FOREIGN KEY (owner, persona_id) REFERENCES persona_memory_configs (owner, persona_id)
);

-- Who gets a place: the most important first, then the newest.
CREATE INDEX memories_by_place
ON memories (owner, persona_id, importance DESC, created_at DESC, number DESC) WHERE archived_at IS NULL;

-- Which memory is the newest about its topics.
CREATE INDEX memories_by_topic
ON memories (owner, persona_id, topic_token, created_at, number) WHERE archived_at IS NULL;

-- Neighbours in a session.
CREATE INDEX memories_by_session
ON memories (owner, persona_id, session_ref, occurred_at, number) WHERE session_ref IS NOT NULL;

-- For lists. They hold `archived_at`, so that what a list leaves out is not read.
CREATE INDEX memories_by_persona_and_time
ON memories (owner, persona_id, created_at DESC, number DESC, archived_at);

CREATE INDEX memories_by_time ON memories (owner, created_at DESC, number DESC, id, archived_at);

-- Postings of the blind index. The token is a keyed hash of persona and term.
CREATE TABLE memory_postings (
    owner    text COLLATE "C" NOT NULL CHECK (owner <> ''),
    token    bigint NOT NULL,
    archived smallint NOT NULL CHECK (archived IN (0, 1)),
    number   bigint NOT NULL CHECK (number >= 1),
    PRIMARY KEY (owner, token, archived, number)
);

-- How many memories have a token: what makes a word rare, without counting its postings.
CREATE TABLE memory_terms (
    owner    text COLLATE "C" NOT NULL CHECK (owner <> ''),
    token    bigint NOT NULL,
    archived smallint NOT NULL CHECK (archived IN (0, 1)),
    memories integer NOT NULL CHECK (memories >= 0),
    PRIMARY KEY (owner, token, archived)
);

-- The moments that mattered, at most one a memory. `content` is the sealed emotion and moment.
CREATE TABLE emotional_moments (
    owner      text COLLATE "C" NOT NULL,
    id         bytea NOT NULL CHECK (octet_length(id) = 16),
    persona_id text COLLATE "C" NOT NULL,
    memory_id  bytea NOT NULL,
    intensity  smallint NOT NULL CHECK (intensity BETWEEN 1 AND 10),
    at         bigint NOT NULL CHECK (at >= 0),
    content    bytea NOT NULL CHECK (octet_length(content) > 0),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, memory_id),
    FOREIGN KEY (owner, memory_id) REFERENCES memories (owner, id)
);

CREATE INDEX emotional_moments_by_time ON emotional_moments (owner, persona_id, at DESC, id);

ALTER TABLE persona_memory_configs ENABLE ROW LEVEL SECURITY;
ALTER TABLE persona_memory_configs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON persona_memory_configs
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE memories FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON memories
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE memory_postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_postings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON memory_postings
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE memory_terms ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_terms FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON memory_terms
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE emotional_moments ENABLE ROW LEVEL SECURITY;
ALTER TABLE emotional_moments FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON emotional_moments
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
