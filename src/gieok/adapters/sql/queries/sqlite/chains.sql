-- Version chains: the head, and reading several at once.

-- name: hold_chain_head(owner, kind, root_id)^
-- The newest version and the active one. SQLite has one writer, so nothing needs to be held.
SELECT latest, active FROM chain_heads WHERE owner = :owner AND kind = :kind AND root_id = :root_id;

-- name: list_active_chain_versions(owner, kind, root_ids)
-- A head whose version is gone gives NULLs, so that damage is noticed.
SELECT head.root_id, head.active, one.id, one.form, one.content, one.created_at
FROM chain_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = :kind AND one.root_id = head.root_id AND one.version = head.active
WHERE
    head.owner = :owner AND head.kind = :kind AND head.active IS NOT NULL
    AND head.root_id IN (SELECT unhex(value) FROM json_each(:root_ids));
