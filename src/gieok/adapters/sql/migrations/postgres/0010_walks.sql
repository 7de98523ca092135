-- Deep walks through decisions that are done in the background, and jobs of kinds that are yet to come.

ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind_check CHECK (length(kind) BETWEEN 1 AND 32);

-- What a walk found, by the id of its job. `found` is sealed: ids in their order, each with the anchor that led there.
CREATE TABLE decision_walks (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id         bytea NOT NULL CHECK (octet_length(id) = 16),
    created_at bigint NOT NULL CHECK (created_at >= 0),
    found      bytea NOT NULL CHECK (octet_length(found) > 0),
    PRIMARY KEY (owner, id)
);

ALTER TABLE decision_walks ENABLE ROW LEVEL SECURITY;
ALTER TABLE decision_walks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON decision_walks
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
