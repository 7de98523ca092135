-- Schema 1 of the keystore in PostgreSQL. A tombstone without an owner is a finished erasure.
CREATE SCHEMA IF NOT EXISTS gieok_keys;

CREATE TABLE gieok_keys.keystore_schema (
    only_row integer NOT NULL PRIMARY KEY CHECK (only_row = 1),
    version  integer NOT NULL
);
INSERT INTO gieok_keys.keystore_schema VALUES (1, 1);

CREATE TABLE gieok_keys.head (
    only_row   integer NOT NULL PRIMARY KEY CHECK (only_row = 1),
    root_id    text    NOT NULL,
    tag_key_id bytea   NOT NULL CHECK (length(tag_key_id) = 8),
    tag_key    bytea   NOT NULL CHECK (length(tag_key) = 60),
    created_at bigint  NOT NULL
);

CREATE TABLE gieok_keys.wrapped_keys (
    owner      text    NOT NULL CHECK (owner <> ''),
    purpose    text    NOT NULL CHECK (purpose IN ('data', 'index')),
    generation integer NOT NULL CHECK (generation >= 1),
    key_id     bytea   NOT NULL CHECK (length(key_id) = 8),
    wrapped    bytea   NOT NULL CHECK (length(wrapped) = 60),
    created_at bigint  NOT NULL,
    PRIMARY KEY (owner, purpose, generation)
);

CREATE TABLE gieok_keys.tombstones (
    tag   bytea NOT NULL PRIMARY KEY CHECK (length(tag) = 32),
    owner text CHECK (owner <> '')
);
