-- Schema 1 of the keystore in SQLite. A tombstone without an owner is a finished erasure.
CREATE TABLE head (
    only_row   INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    root_id    TEXT    NOT NULL,
    tag_key_id BLOB    NOT NULL CHECK (length(tag_key_id) = 8),
    tag_key    BLOB    NOT NULL CHECK (length(tag_key) = 60),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE wrapped_keys (
    owner      TEXT    NOT NULL CHECK (owner <> ''),
    purpose    TEXT    NOT NULL CHECK (purpose IN ('data', 'index')),
    generation INTEGER NOT NULL CHECK (generation >= 1),
    key_id     BLOB    NOT NULL CHECK (length(key_id) = 8),
    wrapped    BLOB    NOT NULL CHECK (length(wrapped) = 60),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner, purpose, generation)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstones (
    tag   BLOB NOT NULL PRIMARY KEY CHECK (length(tag) = 32),
    owner TEXT CHECK (owner <> '')
) STRICT, WITHOUT ROWID;
