-- Former versions of memories, sealed.

-- name: add_memory_version(owner, memory_id, version, replaced_at, content)!
-- 0 rows when the version exists.
INSERT INTO memory_versions (owner, memory_id, version, replaced_at, content)
VALUES (:owner, :memory_id, :version, :replaced_at, :content)
ON CONFLICT (owner, memory_id, version) DO NOTHING;

-- name: list_memory_versions(owner, memory_id)
SELECT memory_id, version, replaced_at, content
FROM memory_versions
WHERE owner = :owner AND memory_id = :memory_id
ORDER BY version;

-- name: list_memory_version_seals(owner, memory_id, version, limit)
-- The next rows by memory and version.
SELECT memory_id, version, replaced_at, content
FROM memory_versions
WHERE owner = :owner AND (memory_id, version) > (:memory_id, :version)
ORDER BY memory_id, version
LIMIT :limit;

-- name: replace_memory_version_seal(owner, memory_id, version, content)!
UPDATE memory_versions SET content = :content
WHERE owner = :owner AND memory_id = :memory_id AND version = :version;

-- name: erase_memory_versions(owner, limit)!
-- The next rows of an erased owner.
DELETE FROM memory_versions WHERE owner = :owner AND (memory_id, version) IN (
    SELECT memory_id, version FROM memory_versions WHERE owner = :owner LIMIT :limit
);
