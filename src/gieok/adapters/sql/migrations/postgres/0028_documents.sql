-- Documents: keyed JSON in namespaces. The versions are chains of the kind `document`; here is how they are found.
-- Namespace and key are tokens of the blind index. `terms` are packed as in 0016, with each prefix of the namespace as
-- a term. `created_at` is the time of the first version, `expires_at` is NULL for a document without a time to live.
CREATE TABLE document_heads (
    owner           text COLLATE "C" NOT NULL REFERENCES owners (owner),
    root_id         bytea NOT NULL CHECK (octet_length(root_id) = 16),
    version         integer NOT NULL CHECK (version >= 1),
    name_token      bigint NOT NULL,
    namespace_token bigint NOT NULL,
    created_at      bigint NOT NULL CHECK (created_at >= 0),
    updated_at      bigint NOT NULL CHECK (updated_at >= 0),
    expires_at      bigint CHECK (expires_at >= 0),
    terms           bytea NOT NULL,
    changed         bigint NOT NULL CHECK (changed >= 0),
    PRIMARY KEY (owner, root_id)
);

CREATE UNIQUE INDEX document_heads_by_name ON document_heads (owner, name_token);
CREATE INDEX document_heads_by_namespace ON document_heads (owner, namespace_token, name_token, expires_at);
CREATE INDEX document_heads_by_change ON document_heads (owner, changed);
CREATE INDEX document_heads_by_expiry ON document_heads (owner, expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE document_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON document_heads
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));

-- The documents of an owner are one scope, `all`.
ALTER TABLE search_scopes DROP CONSTRAINT search_scopes_kind_check;
ALTER TABLE search_scopes ADD CONSTRAINT search_scopes_kind_check
CHECK (kind IN ('turns', 'decisions', 'documents'));
