-- Documents: keyed JSON in namespaces. The versions are chains of the kind `document`; here is how they are found.
-- Namespace and key are tokens of the blind index. `terms` are packed as in 0016, with each prefix of the namespace as
-- a term. `created_at` is the time of the first version, `expires_at` is NULL for a document without a time to live.
CREATE TABLE document_heads (
    owner           TEXT    NOT NULL REFERENCES owners (owner),
    root_id         BLOB    NOT NULL CHECK (length(root_id) = 16),
    version         INTEGER NOT NULL CHECK (version >= 1),
    name_token      INTEGER NOT NULL,
    namespace_token INTEGER NOT NULL,
    created_at      INTEGER NOT NULL CHECK (created_at >= 0),
    updated_at      INTEGER NOT NULL CHECK (updated_at >= 0),
    expires_at      INTEGER CHECK (expires_at >= 0),
    terms           BLOB    NOT NULL,
    changed         INTEGER NOT NULL CHECK (changed >= 0),
    PRIMARY KEY (owner, root_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX document_heads_by_name ON document_heads (owner, name_token);
CREATE INDEX document_heads_by_namespace ON document_heads (owner, namespace_token, name_token, expires_at);
CREATE INDEX document_heads_by_change ON document_heads (owner, changed);
CREATE INDEX document_heads_by_expiry ON document_heads (owner, expires_at) WHERE expires_at IS NOT NULL;

-- The documents of an owner are one scope, `all`. SQLite cannot change a check, so the table is made again.
CREATE TABLE wider_search_scopes (
    owner     TEXT    NOT NULL REFERENCES owners (owner),
    kind      TEXT    NOT NULL CHECK (kind IN ('turns', 'decisions', 'documents')),
    scope     TEXT    NOT NULL,
    revision  INTEGER NOT NULL CHECK (revision >= 1),
    removed   INTEGER NOT NULL CHECK (removed >= 0),
    row_count INTEGER NOT NULL CHECK (row_count >= 0),
    PRIMARY KEY (owner, kind, scope)
) STRICT, WITHOUT ROWID;
INSERT INTO wider_search_scopes (owner, kind, scope, revision, removed, row_count)
SELECT owner, kind, scope, revision, removed, row_count FROM search_scopes;
DROP TABLE search_scopes;
ALTER TABLE wider_search_scopes RENAME TO search_scopes;
