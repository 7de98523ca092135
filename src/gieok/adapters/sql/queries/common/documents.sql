-- Documents: how they are found. The versions themselves are a chain of the kind `document`.

-- name: save_document_head(owner, root_id, version, name_token, namespace_token, created_at, updated_at, expires_at, terms, changed)!
INSERT INTO document_heads (
    owner, root_id, version, name_token, namespace_token, created_at, updated_at, expires_at, terms, changed
)
VALUES (
    :owner, :root_id, :version, :name_token, :namespace_token, :created_at, :updated_at, :expires_at, :terms, :changed
)
ON CONFLICT (owner, root_id) DO UPDATE SET
    version = excluded.version,
    name_token = excluded.name_token,
    namespace_token = excluded.namespace_token,
    created_at = excluded.created_at,
    updated_at = excluded.updated_at,
    expires_at = excluded.expires_at,
    terms = excluded.terms,
    changed = excluded.changed;

-- name: get_document_head(owner, name_token)^
SELECT root_id, version, created_at, updated_at, expires_at
FROM document_heads
WHERE owner = :owner AND name_token = :name_token;

-- name: list_documents_by_name(owner, name_tokens, now)
-- The newest versions of the documents with these names, without expired ones.
SELECT
    head.name_token,
    head.root_id, head.version, one.id, one.form, one.content, one.created_at,
    head.created_at, head.expires_at
FROM document_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'document' AND one.root_id = head.root_id AND one.version = head.version
WHERE
    head.owner = :owner AND head.name_token IN list(:name_tokens)
    AND (head.expires_at IS NULL OR head.expires_at > :now);

-- name: list_documents(owner, root_ids, now)
SELECT
    head.root_id, head.version, one.id, one.form, one.content, one.created_at,
    head.created_at, head.expires_at
FROM document_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'document' AND one.root_id = head.root_id AND one.version = head.version
WHERE
    head.owner = :owner AND head.root_id IN list(:root_ids)
    AND (head.expires_at IS NULL OR head.expires_at > :now);

-- name: list_document_namespaces(owner, now)
-- One document of each namespace.
SELECT head.root_id, head.version, one.id, one.form, one.content, one.created_at
FROM document_heads AS head
LEFT JOIN chain_versions AS one
    ON one.owner = :owner AND one.kind = 'document' AND one.root_id = head.root_id AND one.version = head.version
WHERE head.owner = :owner AND head.name_token IN (
    SELECT min(any_one.name_token)
    FROM document_heads AS any_one
    WHERE any_one.owner = :owner AND (any_one.expires_at IS NULL OR any_one.expires_at > :now)
    GROUP BY any_one.namespace_token
);

-- name: list_document_index(owner, after)
-- The index rows that were written or changed after a revision.
SELECT root_id, changed, version, changed, updated_at, 0, NULL, 0, terms
FROM document_heads
WHERE owner = :owner AND changed > :after
ORDER BY changed;

-- name: set_document_expiry(owner, name_token, version, expires_at)!
-- 0 rows when it was written since it was read: then it expires as that says.
UPDATE document_heads SET expires_at = :expires_at
WHERE owner = :owner AND name_token = :name_token AND version = :version;

-- name: list_expired_documents(owner, now, limit)
SELECT root_id
FROM document_heads
WHERE owner = :owner AND expires_at <= :now
ORDER BY expires_at
LIMIT :limit;

-- name: save_document_vectors(owner, root_id, version, space, vectors)!
INSERT INTO document_vectors (owner, root_id, version, space, vectors)
VALUES (:owner, :root_id, :version, :space, :vectors);

-- name: remove_document_vectors(owner, root_id)!
DELETE FROM document_vectors WHERE owner = :owner AND root_id = :root_id;

-- name: list_document_vectors(owner, space, root_ids)
SELECT root_id, version, vectors
FROM document_vectors
WHERE owner = :owner AND root_id IN list(:root_ids) AND space = :space;

-- name: list_document_vector_seals(owner, after, limit)
SELECT root_id, version, space, vectors
FROM document_vectors
WHERE owner = :owner AND root_id > :after
ORDER BY root_id
LIMIT :limit;

-- name: replace_document_vector_seal(owner, root_id, version, space, vectors)!
UPDATE document_vectors SET vectors = :vectors
WHERE owner = :owner AND root_id = :root_id AND version = :version AND space = :space;

-- name: remove_document_head(owner, root_id)!
DELETE FROM document_heads WHERE owner = :owner AND root_id = :root_id;

-- name: erase_document_heads(owner)!
DELETE FROM document_heads WHERE owner = :owner;

-- name: erase_document_vectors(owner)!
DELETE FROM document_vectors WHERE owner = :owner;
