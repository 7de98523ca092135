-- The persona whose facts a stored answer quotes: the answer is deleted with them. A key whose answer was deleted has the
-- answer 'deleted' until it expires, so that a repeated request is not carried out again.

ALTER TABLE requests ADD COLUMN persona_id text COLLATE "C" CHECK (length(persona_id) BETWEEN 1 AND 128);
