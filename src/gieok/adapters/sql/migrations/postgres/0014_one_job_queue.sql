-- One queue for all background work. A job has a subject instead of a session: the session, the persona whose memories
-- need vectors, the analyzer version to index for, or the owner to erase.

ALTER TABLE jobs RENAME COLUMN session_ref TO subject;
ALTER TABLE jobs RENAME CONSTRAINT jobs_session_ref_check TO jobs_subject_check;
ALTER INDEX jobs_by_session RENAME TO jobs_by_subject;
CREATE INDEX jobs_unfinished ON jobs (kind, owner, subject) WHERE due_at IS NOT NULL;

-- Embedding had a lease of its own here. A worker still looks for personas across owners, but changes none.
DROP POLICY worker_claims ON persona_memory_configs;
DROP INDEX persona_memory_configs_to_embed;
DROP INDEX persona_memory_configs_by_space;
ALTER TABLE persona_memory_configs DROP COLUMN embed_after;
CREATE INDEX persona_memory_configs_to_embed
ON persona_memory_configs (owner, persona_id) WHERE last_number > embedded_to;
CREATE INDEX persona_memory_configs_by_space ON persona_memory_configs (vector_space);
