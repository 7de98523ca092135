-- The turn that a stored answer quotes: the answer is deleted with it.

ALTER TABLE requests ADD COLUMN session_ref text COLLATE "C" CHECK (length(session_ref) BETWEEN 1 AND 128);
ALTER TABLE requests ADD COLUMN turn_id text COLLATE "C" CHECK (length(turn_id) BETWEEN 1 AND 128);
