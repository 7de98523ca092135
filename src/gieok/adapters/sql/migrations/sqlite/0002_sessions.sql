-- Which plan a session last ran, and every move to another plan.

CREATE TABLE sessions (
    owner            TEXT    NOT NULL REFERENCES owners (owner),
    session_ref      TEXT    NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    last_plan_hash   TEXT    NOT NULL CHECK (length(last_plan_hash) = 64),
    started_at       INTEGER NOT NULL CHECK (started_at >= 0),
    last_activity_at INTEGER NOT NULL CHECK (last_activity_at >= 0),
    PRIMARY KEY (owner, session_ref)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_plan_moves (
    owner       TEXT    NOT NULL,
    session_ref TEXT    NOT NULL,
    number      INTEGER NOT NULL CHECK (number >= 1),
    moved_at    INTEGER NOT NULL CHECK (moved_at >= 0),
    from_hash   TEXT    NOT NULL CHECK (length(from_hash) = 64),
    to_hash     TEXT    NOT NULL CHECK (length(to_hash) = 64),
    PRIMARY KEY (owner, session_ref, number),
    FOREIGN KEY (owner, session_ref) REFERENCES sessions (owner, session_ref)
) STRICT, WITHOUT ROWID;
