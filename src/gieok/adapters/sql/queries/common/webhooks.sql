-- Webhooks of one owner.

-- name: add_webhook(owner, id, kinds, include_content, content, created_at)!
INSERT INTO webhooks (owner, id, kinds, include_content, content, created_at)
VALUES (:owner, :id, :kinds, :include_content, :content, :created_at);

-- name: get_webhook(owner, id)^
SELECT id, kinds, include_content, content, created_at FROM webhooks WHERE owner = :owner AND id = :id;

-- name: list_webhooks(owner)
SELECT id, kinds, include_content, content, created_at FROM webhooks WHERE owner = :owner ORDER BY created_at, id;

-- name: remove_webhook(owner, id)!
DELETE FROM webhooks WHERE owner = :owner AND id = :id;

-- name: list_webhook_seals(owner, after, limit)
SELECT id, kinds, include_content, content, created_at
FROM webhooks
WHERE owner = :owner AND id > :after
ORDER BY id
LIMIT :limit;

-- name: replace_webhook_seal(owner, id, content)!
UPDATE webhooks SET content = :content WHERE owner = :owner AND id = :id;

-- name: erase_webhooks(owner)!
DELETE FROM webhooks WHERE owner = :owner;
