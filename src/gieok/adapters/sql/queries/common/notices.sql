-- Notices that wait for delivery to the user.

-- name: leave_notices(owner, persona_id, kind, created_at)*!
-- A notice that waits already is unchanged.
INSERT INTO notices (owner, persona_id, kind, created_at)
VALUES (:owner, :persona_id, :kind, :created_at)
ON CONFLICT (owner, persona_id, kind) DO NOTHING;

-- name: take_notices(owner, persona_id)
-- Of two concurrent turns, one gets them.
DELETE FROM notices WHERE owner = :owner AND persona_id = :persona_id RETURNING kind;

-- name: erase_notices(owner)!
DELETE FROM notices WHERE owner = :owner;
