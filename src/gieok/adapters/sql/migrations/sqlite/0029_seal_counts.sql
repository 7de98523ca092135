-- How many values the current data key of each owner has sealed: an upper bound, counted in batches. Nonces are random,
-- so a key must be replaced long before 2^32 of them.
CREATE TABLE seal_counts (
    owner      TEXT    NOT NULL REFERENCES owners (owner),
    generation INTEGER NOT NULL CHECK (generation >= 1),
    seals      INTEGER NOT NULL CHECK (seals >= 0),
    PRIMARY KEY (owner)
) STRICT, WITHOUT ROWID;

CREATE INDEX seal_counts_by_seals ON seal_counts (seals);
