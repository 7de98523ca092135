-- Version chains. No query changes the content of a version.

-- name: add_chain_version(owner, kind, root_id, version, id, form, content, created_at)!
-- 0 rows when another writer has added this version.
INSERT INTO chain_versions (owner, kind, root_id, version, id, form, content, created_at)
VALUES (:owner, :kind, :root_id, :version, :id, :form, :content, :created_at)
ON CONFLICT (owner, kind, root_id, version) DO NOTHING;

-- name: move_chain_head(owner, kind, root_id, version)!
-- The version becomes the newest and the active one.
INSERT INTO chain_heads (owner, kind, root_id, latest, active)
VALUES (:owner, :kind, :root_id, :version, :version)
ON CONFLICT (owner, kind, root_id) DO UPDATE SET latest = excluded.latest, active = excluded.active;

-- name: retire_chain(owner, kind, root_id)!
UPDATE chain_heads SET active = NULL
WHERE owner = :owner AND kind = :kind AND root_id = :root_id;

-- name: list_chain_history(owner, kind, root_id, after, limit)
SELECT
    one.root_id, one.version, one.id, one.form, one.content, one.created_at,
    coalesce(head.active = one.version, FALSE)
FROM chain_versions AS one
LEFT JOIN chain_heads AS head ON head.owner = :owner AND head.kind = :kind AND head.root_id = one.root_id
WHERE one.owner = :owner AND one.kind = :kind AND one.root_id = :root_id AND one.version > :after
ORDER BY one.version
LIMIT :limit;

-- name: list_chain_seals(owner, kind, root_id, version, limit)
-- The next versions after this one, by their key.
SELECT root_id, version, id, form, content, created_at
FROM chain_versions
WHERE owner = :owner AND kind = :kind AND (root_id, version) > (:root_id, :version)
ORDER BY root_id, version
LIMIT :limit;

-- name: replace_chain_seal(owner, kind, root_id, version, content)!
-- The same content under a new key.
UPDATE chain_versions SET content = :content
WHERE owner = :owner AND kind = :kind AND root_id = :root_id AND version = :version;

-- name: erase_chain_heads(owner)!
DELETE FROM chain_heads WHERE owner = :owner;

-- name: erase_chain_versions(owner, limit)!
-- The next rows of an erased owner.
DELETE FROM chain_versions WHERE owner = :owner AND (kind, root_id, version) IN (
    SELECT kind, root_id, version FROM chain_versions WHERE owner = :owner LIMIT :limit
);

-- name: list_active_chain_versions(owner, kind, root_ids)
-- A head without its version gives NULLs, so that damage is detected.
SELECT head.root_id, head.active, one.id, one.form, one.content, one.created_at
FROM chain_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = :kind AND one.root_id = head.root_id AND one.version = head.active
WHERE
    head.owner = :owner AND head.kind = :kind AND head.active IS NOT NULL
    AND head.root_id IN list(:root_ids);

-- name: lock_chain_head(owner, kind, root_id)^
-- The newest version and the active one, with a row lock, so that concurrent writers append in turn.
SELECT latest, active FROM chain_heads WHERE owner = :owner AND kind = :kind AND root_id = :root_id
FOR NO KEY UPDATE;

-- name: remove_chain_head(owner, kind, root_id)!
DELETE FROM chain_heads WHERE owner = :owner AND kind = :kind AND root_id = :root_id;

-- name: remove_chain_versions(owner, kind, root_id)!
DELETE FROM chain_versions WHERE owner = :owner AND kind = :kind AND root_id = :root_id;
