-- Messages and facts are found like memories: each row carries its terms, in the index of its persona.
--
-- `number` counts the messages and facts of a persona together. `changed` is the persona's revision at which the row was
-- indexed last. `terms` is NULL until the row is indexed; a message that must not be found has empty terms.
-- `details` is sealed: the name of the speaker, and the words that describe the message (the second field of the index).

ALTER TABLE messages ADD COLUMN persona_id TEXT CHECK (length(persona_id) BETWEEN 1 AND 128);
ALTER TABLE messages ADD COLUMN number INTEGER CHECK (number >= 1);
ALTER TABLE messages ADD COLUMN changed INTEGER CHECK (changed >= 1);
ALTER TABLE messages ADD COLUMN terms BLOB;
ALTER TABLE messages ADD COLUMN details BLOB CHECK (length(details) > 0);
CREATE INDEX messages_by_change ON messages (owner, persona_id, changed) WHERE changed IS NOT NULL;
CREATE INDEX messages_by_number ON messages (owner, persona_id, number) WHERE number IS NOT NULL;
CREATE INDEX messages_to_index ON messages (owner, session_ref, seq) WHERE terms IS NULL;

ALTER TABLE fact_heads ADD COLUMN number INTEGER CHECK (number >= 1);
ALTER TABLE fact_heads ADD COLUMN changed INTEGER CHECK (changed >= 1);
ALTER TABLE fact_heads ADD COLUMN terms BLOB;
CREATE INDEX fact_heads_by_change ON fact_heads (owner, persona_token, changed) WHERE changed IS NOT NULL;
CREATE INDEX fact_heads_by_number ON fact_heads (owner, persona_token, number) WHERE number IS NOT NULL;
CREATE INDEX fact_heads_to_index ON fact_heads (owner, root_id) WHERE terms IS NULL;

-- The last number, how many messages and facts are in the index, and the revision at which a memory changed last.
ALTER TABLE persona_memory_configs ADD COLUMN last_entry INTEGER NOT NULL DEFAULT 0 CHECK (last_entry >= 0);
ALTER TABLE persona_memory_configs ADD COLUMN entries INTEGER NOT NULL DEFAULT 0 CHECK (entries >= 0);
ALTER TABLE persona_memory_configs ADD COLUMN memories_changed INTEGER NOT NULL DEFAULT 0;

-- What was stored before is sealed, so a job indexes it, one for each owner.
INSERT INTO jobs (owner, id, kind, subject, first_seq, last_seq, status, attempts, fence, due_at, created_at)
SELECT
    owner, x'696e6465780000004000800000000001', 'index', 'messages', 0, 0, 'queued', 0, 0,
    CAST(strftime('%s', 'now') AS INTEGER) * 1000000, CAST(strftime('%s', 'now') AS INTEGER) * 1000000
FROM owners
WHERE
    erased_at IS NULL AND (
        EXISTS (SELECT 1 FROM messages WHERE messages.owner = owners.owner)
        OR EXISTS (SELECT 1 FROM fact_heads WHERE fact_heads.owner = owners.owner)
    );
