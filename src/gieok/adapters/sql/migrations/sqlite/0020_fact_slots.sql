-- Facts about one thing meet in one slot. `key_token` stands for the persona, the subject, the slot and the thing.

-- How often the facts of a persona were changed. Its row is the lock of their writers: each decides by all facts.
CREATE TABLE fact_revisions (
    owner         TEXT    NOT NULL REFERENCES owners (owner),
    persona_token INTEGER NOT NULL,
    revision      INTEGER NOT NULL CHECK (revision >= 1),
    PRIMARY KEY (owner, persona_token)
) STRICT, WITHOUT ROWID;

-- Facts that were stored before may share a slot. Keys are sealed, so a job compares them, one for each owner.
INSERT INTO jobs (owner, id, kind, subject, first_seq, last_seq, status, attempts, fence, due_at, created_at)
SELECT
    owner, x'6d657267650000004000800000000001', 'merge', 'facts', 0, 0, 'queued', 0, 0,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000000, CAST(strftime('%s', 'now') AS INTEGER) * 1000000
FROM owners
WHERE erased_at IS NULL AND EXISTS (SELECT 1 FROM fact_heads WHERE fact_heads.owner = owners.owner);
