-- The ground: who owns rows, what is known about the database, and the turn memories.
-- An id is a UUID as its 16 bytes, in both databases: half of its text form, and one form for one code.
-- A time of a memory is whole microseconds since 1970, UTC.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY CHECK (key <> ''),
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The guard row: read at the start of every unit of work, kept after an erasure so that nothing comes back.
CREATE TABLE owners (
    owner          TEXT    NOT NULL PRIMARY KEY CHECK (length(owner) BETWEEN 1 AND 128),
    key_generation INTEGER NOT NULL CHECK (key_generation >= 1),
    erased_at      TEXT    CHECK (erased_at <> ''),
    created_at     TEXT    NOT NULL CHECK (created_at <> '')
) STRICT, WITHOUT ROWID;

CREATE TABLE turn_memories (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    session_ref TEXT    NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    at          INTEGER NOT NULL CHECK (at >= 0),
    summary     BLOB    NOT NULL CHECK (length(summary) > 0),
    keywords    BLOB    NOT NULL CHECK (length(keywords) > 0),
    PRIMARY KEY (owner, id)
) STRICT;

CREATE INDEX turn_memories_by_session ON turn_memories (owner, session_ref, at DESC, id);

-- Postings of the blind index. The token is a keyed hash of session and term; `keyword` numbers the keyword
-- of the memory that the term belongs to, so that several terms of one keyword count once.
CREATE TABLE turn_memory_index (
    owner   TEXT    NOT NULL CHECK (owner <> ''),
    token   INTEGER NOT NULL,
    at      INTEGER NOT NULL CHECK (at >= 0),
    id      BLOB    NOT NULL CHECK (length(id) = 16),
    keyword INTEGER NOT NULL CHECK (keyword BETWEEN 0 AND 32767),
    PRIMARY KEY (owner, token, at DESC, id, keyword)
) STRICT, WITHOUT ROWID;
