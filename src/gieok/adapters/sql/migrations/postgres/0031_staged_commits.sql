-- Large commits in parts, for SQLite. PostgreSQL has many writers at once and needs no parts: here the tables stay empty,
-- so that the schemas are the same.
CREATE TABLE staged_commits (
    owner      text COLLATE "C" NOT NULL,
    id         bytea  NOT NULL,
    state      text   NOT NULL CHECK (state IN ('staging', 'applying', 'stored', 'undoing', 'undone')),
    parts      bigint NOT NULL CHECK (parts >= 0),
    applied    bigint NOT NULL CHECK (applied BETWEEN 0 AND parts),
    created_at bigint NOT NULL,
    PRIMARY KEY (owner, id)
);

CREATE TABLE staged_changes (
    owner   text COLLATE "C" NOT NULL,
    id      bytea  NOT NULL,
    number  bigint NOT NULL CHECK (number >= 0),
    changes bytea  NOT NULL,
    PRIMARY KEY (owner, id, number)
);

ALTER TABLE staged_commits ENABLE ROW LEVEL SECURITY;
ALTER TABLE staged_commits FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON staged_commits
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
ALTER TABLE staged_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE staged_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON staged_changes
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
