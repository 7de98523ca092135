-- How many values the current data key of each owner has sealed: an upper bound, counted in batches. Nonces are random,
-- so a key must be replaced long before 2^32 of them.
CREATE TABLE seal_counts (
    owner      text COLLATE "C" NOT NULL REFERENCES owners (owner),
    generation bigint NOT NULL CHECK (generation >= 1),
    seals      bigint NOT NULL CHECK (seals >= 0),
    PRIMARY KEY (owner)
);

CREATE INDEX seal_counts_by_seals ON seal_counts (seals);

ALTER TABLE seal_counts ENABLE ROW LEVEL SECURITY;
ALTER TABLE seal_counts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON seal_counts
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
CREATE POLICY worker_sees ON seal_counts FOR SELECT USING (current_setting('gieok.worker', true) = 'on');
