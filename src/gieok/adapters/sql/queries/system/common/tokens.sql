-- What crosses owners: finding a token before it is known whose it is, and an operator's list of all of them.

-- name: find_token(hash)
SELECT owner, id, plan, scopes, label, created_at, expires_at, revoked_at
FROM tokens
WHERE hash = :hash;

-- name: find_token_owner(id)
SELECT owner FROM tokens WHERE id = :id;

-- name: list_every_token()
SELECT owner, id, plan, scopes, label, created_at, expires_at, revoked_at
FROM tokens
ORDER BY owner, created_at, id;
