-- One queue for all background work. A job has a subject instead of a session: the session, the persona whose memories
-- need vectors, the analyzer version to index for, or the owner to erase.

ALTER TABLE jobs RENAME COLUMN session_ref TO subject;
DROP INDEX jobs_by_session;
CREATE INDEX jobs_by_subject ON jobs (owner, subject, first_seq);
CREATE INDEX jobs_unfinished ON jobs (kind, owner, subject) WHERE due_at IS NOT NULL;

-- Embedding had a lease of its own here.
DROP INDEX persona_memory_configs_to_embed;
DROP INDEX persona_memory_configs_by_space;
ALTER TABLE persona_memory_configs DROP COLUMN embed_after;
CREATE INDEX persona_memory_configs_to_embed
ON persona_memory_configs (owner, persona_id) WHERE last_number > embedded_to;
CREATE INDEX persona_memory_configs_by_space ON persona_memory_configs (vector_space);
