-- The transactional outbox. Events are recorded only for owners who have a consumer: `owners.consumers` has their names,
-- separated by spaces, where every write reads them together with the key generation.
ALTER TABLE owners ADD COLUMN consumers TEXT NOT NULL DEFAULT '';

-- The number of the owner's last event. Its row is locked from the recording to the commit, so that numbers become
-- visible in their order.
CREATE TABLE event_heads (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    last_number INTEGER NOT NULL CHECK (last_number >= 0),
    PRIMARY KEY (owner)
) STRICT, WITHOUT ROWID;

-- Ids and kinds only. An event is deleted when all consumers have got it.
CREATE TABLE events (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    number      INTEGER NOT NULL CHECK (number >= 1),
    kind        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    session_ref TEXT,
    persona_id  TEXT,
    seq         INTEGER,
    version     INTEGER,
    at          INTEGER NOT NULL CHECK (at >= 0),
    PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID;

-- `position` is the number of the last event that was delivered or became a dead letter.
CREATE TABLE event_consumers (
    owner         TEXT    NOT NULL REFERENCES owners (owner),
    consumer      TEXT    NOT NULL,
    position      INTEGER NOT NULL CHECK (position >= 0),
    is_backfilled INTEGER NOT NULL CHECK (is_backfilled IN (0, 1)),
    cursor        TEXT,
    created_at    INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, consumer)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
    owner       TEXT    NOT NULL REFERENCES owners (owner),
    consumer    TEXT    NOT NULL,
    number      INTEGER NOT NULL CHECK (number >= 1),
    kind        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    session_ref TEXT,
    persona_id  TEXT,
    seq         INTEGER,
    version     INTEGER,
    at          INTEGER NOT NULL CHECK (at >= 0),
    attempts    INTEGER NOT NULL CHECK (attempts >= 1),
    error       TEXT    NOT NULL,
    failed_at   INTEGER NOT NULL CHECK (failed_at >= 0),
    is_retried  INTEGER NOT NULL CHECK (is_retried IN (0, 1)),
    PRIMARY KEY (owner, consumer, number)
) STRICT, WITHOUT ROWID;
