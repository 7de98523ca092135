-- Which plan a session last ran, and every move to another plan.

CREATE TABLE sessions (
    owner            text COLLATE "C" NOT NULL REFERENCES owners (owner),
    session_ref      text COLLATE "C" NOT NULL CHECK (length(session_ref) BETWEEN 1 AND 128),
    last_plan_hash   text NOT NULL CHECK (length(last_plan_hash) = 64),
    started_at       bigint NOT NULL CHECK (started_at >= 0),
    last_activity_at bigint NOT NULL CHECK (last_activity_at >= 0),
    PRIMARY KEY (owner, session_ref)
);

CREATE TABLE session_plan_moves (
    owner       text COLLATE "C" NOT NULL,
    session_ref text COLLATE "C" NOT NULL,
    number      integer NOT NULL CHECK (number >= 1),
    moved_at    bigint NOT NULL CHECK (moved_at >= 0),
    from_hash   text NOT NULL CHECK (length(from_hash) = 64),
    to_hash     text NOT NULL CHECK (length(to_hash) = 64),
    PRIMARY KEY (owner, session_ref, number),
    FOREIGN KEY (owner, session_ref) REFERENCES sessions (owner, session_ref)
);

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON sessions
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE session_plan_moves ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_plan_moves FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON session_plan_moves
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
