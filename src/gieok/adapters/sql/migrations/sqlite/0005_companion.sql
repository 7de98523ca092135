-- Companion memory: episodes, the words by which they are found, the moments that mattered, and the counts.

-- Per persona: what its user set, and counts kept in step with the memories in the same transaction. The row is
-- held by every unit that changes the memories of that persona, so that two of them cannot both take the last place.
-- `words_*` is the sum of the lengths of the memories, for their average.
CREATE TABLE persona_memory_configs (
    owner          TEXT    NOT NULL REFERENCES owners (owner),
    persona_id     TEXT    NOT NULL CHECK (length(persona_id) BETWEEN 1 AND 128),
    recall         INTEGER NOT NULL CHECK (recall IN (0, 1)),
    active_limit   INTEGER CHECK (active_limit >= 1), -- NULL: no limit but the account's
    last_number    INTEGER NOT NULL CHECK (last_number >= 0),
    active         INTEGER NOT NULL CHECK (active >= 0),
    archived       INTEGER NOT NULL CHECK (archived >= 0),
    words_active   INTEGER NOT NULL CHECK (words_active >= 0),
    words_archived INTEGER NOT NULL CHECK (words_archived >= 0),
    PRIMARY KEY (owner, persona_id)
) STRICT, WITHOUT ROWID;

-- `number` counts the memories of a persona in the order in which they were made. `content` is the sealed summary,
-- topics, emotion, tags and speaker. `topic_token` is a keyed hash of the topics, NULL where there are none.
-- `terms` are the memory's tokens in the blind index with their counts, so that a score needs no other row.
CREATE TABLE memories (
    owner       TEXT    NOT NULL,
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    persona_id  TEXT    NOT NULL,
    number      INTEGER NOT NULL CHECK (number >= 1),
    session_ref TEXT    CHECK (length(session_ref) BETWEEN 1 AND 128),
    origin      INTEGER NOT NULL CHECK (origin BETWEEN 1 AND 3), -- 1 summary, 2 manual, 3 excerpt
    importance  INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    created_at  INTEGER NOT NULL CHECK (created_at >= 0),
    occurred_at INTEGER NOT NULL CHECK (occurred_at >= 0),
    archived_at INTEGER CHECK (archived_at >= 0), -- NULL while it is active
    version     INTEGER NOT NULL CHECK (version >= 1),
    topic_token INTEGER,
    words       INTEGER NOT NULL CHECK (words >= 0),
    terms       BLOB    NOT NULL,
    content     BLOB    NOT NULL CHECK (length(content) > 0),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, persona_id, number),
    FOREIGN KEY (owner, persona_id) REFERENCES persona_memory_configs (owner, persona_id)
) STRICT;

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
    owner    TEXT    NOT NULL CHECK (owner <> ''),
    token    INTEGER NOT NULL,
    archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
    number   INTEGER NOT NULL CHECK (number >= 1),
    PRIMARY KEY (owner, token, archived, number DESC)
) STRICT, WITHOUT ROWID;

-- How many memories have a token: what makes a word rare, without counting its postings.
CREATE TABLE memory_terms (
    owner    TEXT    NOT NULL CHECK (owner <> ''),
    token    INTEGER NOT NULL,
    archived INTEGER NOT NULL CHECK (archived IN (0, 1)),
    memories INTEGER NOT NULL CHECK (memories >= 0),
    PRIMARY KEY (owner, token, archived)
) STRICT, WITHOUT ROWID;

-- The moments that mattered, at most one a memory. `content` is the sealed emotion and moment.
CREATE TABLE emotional_moments (
    owner      TEXT    NOT NULL,
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    persona_id TEXT    NOT NULL,
    memory_id  BLOB    NOT NULL,
    intensity  INTEGER NOT NULL CHECK (intensity BETWEEN 1 AND 10),
    at         INTEGER NOT NULL CHECK (at >= 0),
    content    BLOB    NOT NULL CHECK (length(content) > 0),
    PRIMARY KEY (owner, id),
    UNIQUE (owner, memory_id),
    FOREIGN KEY (owner, memory_id) REFERENCES memories (owner, id)
) STRICT;

CREATE INDEX emotional_moments_by_time ON emotional_moments (owner, persona_id, at DESC, id);
