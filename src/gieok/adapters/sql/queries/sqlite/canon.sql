-- Canon: heads that are about to move.

-- name: hold_persona(owner, persona_id)^
-- SQLite has one writer, so nothing needs to be held.
SELECT root_id, version FROM persona_heads WHERE owner = :owner AND persona_id = :persona_id;

-- name: hold_fact_by_key(owner, key_token)^
SELECT root_id, standing FROM fact_heads WHERE owner = :owner AND key_token = :key_token;

-- name: hold_fact(owner, persona_token, root_id)^
SELECT root_id, standing FROM fact_heads
WHERE owner = :owner AND persona_token = :persona_token AND root_id = :root_id;
