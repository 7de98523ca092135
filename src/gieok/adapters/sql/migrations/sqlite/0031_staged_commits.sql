-- A large commit, such as an import, is written in parts, so that other owners do not wait for it. While its state is
-- 'applying' or 'undoing', nobody reads or writes rows of its owner before it is finished.
CREATE TABLE staged_commits (
    owner      TEXT    NOT NULL,
    id         BLOB    NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('staging', 'applying', 'stored', 'undoing', 'undone')),
    parts      INTEGER NOT NULL CHECK (parts >= 0),
    applied    INTEGER NOT NULL CHECK (applied BETWEEN 0 AND parts),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE staged_changes (
    owner   TEXT    NOT NULL,
    id      BLOB    NOT NULL,
    number  INTEGER NOT NULL CHECK (number >= 0),
    changes BLOB    NOT NULL,
    PRIMARY KEY (owner, id, number)
) STRICT;
