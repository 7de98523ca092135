-- What a user is still to be told.

-- name: leave_notices(owner, persona_id, kind, created_at)*!
-- One that waits already stays as it is.
INSERT INTO notices (owner, persona_id, kind, created_at)
VALUES (:owner, :persona_id, :kind, :created_at)
ON CONFLICT (owner, persona_id, kind) DO NOTHING;

-- name: take_notices(owner, persona_id)
-- Of two turns at once, one gets them.
DELETE FROM notices WHERE owner = :owner AND persona_id = :persona_id RETURNING kind;

-- name: erase_notices(owner)!
DELETE FROM notices WHERE owner = :owner;
