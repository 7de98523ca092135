-- API tokens. Lookup without knowing the owner is in queries/system.

-- name: add_token(owner, id, hash, plan, scopes, label, created_at, expires_at)!
INSERT INTO tokens (owner, id, hash, plan, scopes, label, created_at, expires_at)
VALUES (:owner, :id, :hash, :plan, :scopes, :label, :created_at, :expires_at);

-- name: get_token(owner, id)^
SELECT owner, id, plan, scopes, label, created_at, expires_at, revoked_at
FROM tokens
WHERE owner = :owner AND id = :id;

-- name: list_tokens(owner)
SELECT owner, id, plan, scopes, label, created_at, expires_at, revoked_at
FROM tokens
WHERE owner = :owner
ORDER BY created_at, id;

-- name: revoke_token(owner, id, revoked_at)!
-- 0 rows when it was revoked before: the first time stays.
UPDATE tokens SET revoked_at = :revoked_at
WHERE owner = :owner AND id = :id AND revoked_at IS NULL;

-- name: revoke_tokens(owner, revoked_at)!
-- All tokens of an owner who is being erased.
UPDATE tokens SET revoked_at = :revoked_at
WHERE owner = :owner AND revoked_at IS NULL;

-- name: erase_tokens(owner)!
DELETE FROM tokens WHERE owner = :owner;
