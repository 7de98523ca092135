-- The ground: who owns rows, what is known about the database, and the turn memories.
-- An id is a UUID as its 16 bytes, in both databases: one form for one code.
-- A time of a memory is whole microseconds since 1970, UTC. COLLATE "C" orders text by its bytes, as SQLite does.
-- FORCE makes the policy hold for the role that owns the tables too.

CREATE TABLE meta (
    key   text COLLATE "C" NOT NULL PRIMARY KEY CHECK (key <> ''),
    value text NOT NULL
);

-- The guard row: read at the start of every unit of work, kept after an erasure so that nothing comes back.
CREATE TABLE owners (
    owner          text COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(owner) BETWEEN 1 AND 128),
    key_generation integer NOT NULL CHECK (key_generation >= 1),
    erased_at      text CHECK (erased_at <> ''),
    created_at     text NOT NULL CHECK (created_at <> '')
);

CREATE TABLE turn_memories (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id          bytea NOT NULL CHECK (octet_length(id) = 16),
    session_ref text COLLATE "C" NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    at          bigint NOT NULL CHECK (at >= 0),
    summary     bytea NOT NULL CHECK (octet_length(summary) > 0),
    keywords    bytea NOT NULL CHECK (octet_length(keywords) > 0),
    PRIMARY KEY (owner, id)
);

CREATE INDEX turn_memories_by_session ON turn_memories (owner, session_ref, at DESC, id);

-- Postings of the blind index. The token is a keyed hash of session and term; `keyword` numbers the keyword
-- of the memory that the term belongs to, so that several terms of one keyword count once.
-- A primary key has no direction here; PostgreSQL reads it backwards for newest first.
CREATE TABLE turn_memory_index (
    owner   text COLLATE "C" NOT NULL CHECK (owner <> ''),
    token   bigint NOT NULL,
    at      bigint NOT NULL CHECK (at >= 0),
    id      bytea NOT NULL CHECK (octet_length(id) = 16),
    keyword smallint NOT NULL CHECK (keyword >= 0),
    PRIMARY KEY (owner, token, at, id, keyword)
);

ALTER TABLE owners ENABLE ROW LEVEL SECURITY;
ALTER TABLE owners FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON owners
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

-- When erasures are replayed on a database that was restored, the names of all owners can be seen.
CREATE POLICY replay_sees ON owners FOR SELECT USING (current_setting('gieok.replay', true) = 'on');

ALTER TABLE turn_memories ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_memories FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON turn_memories
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE turn_memory_index ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_memory_index FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON turn_memory_index
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
