-- A message without a session continues the open session with its persona.

CREATE INDEX open_sessions ON sessions (owner, persona_id, last_activity_at) WHERE ended_at IS NULL;
