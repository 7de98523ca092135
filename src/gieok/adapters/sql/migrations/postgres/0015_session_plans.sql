-- The plans that serve a session besides its chat plan, as its chat plan names them (JSON). NULL in older sessions.

ALTER TABLE sessions ADD COLUMN plans text CHECK (length(plans) BETWEEN 2 AND 4096);
