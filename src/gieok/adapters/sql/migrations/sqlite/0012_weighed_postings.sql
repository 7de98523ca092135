-- A posting says how often its term is in the memory, and how many words the memory has: so a search scores what it
-- finds without reading the memories. Postings from before say 1 and 0 until they are made anew in the background.
ALTER TABLE memory_postings ADD COLUMN times INTEGER NOT NULL DEFAULT 1 CHECK (times >= 1);
ALTER TABLE memory_postings ADD COLUMN words INTEGER NOT NULL DEFAULT 0 CHECK (words >= 0);
