-- How often the memories of a persona were changed: what was read of them at a revision is true while it stands.
-- An addition counts one here and one in `last_number`; every other change counts here only.
ALTER TABLE persona_memory_configs ADD COLUMN revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0);
