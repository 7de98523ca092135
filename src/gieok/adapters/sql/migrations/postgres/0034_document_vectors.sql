-- Vectors of documents, made by the caller's embedding model: sealed like their text, all of a document in one value.
-- A document has vectors of its newest version, in one space.
CREATE TABLE document_vectors (
    owner   text COLLATE "C" NOT NULL,
    root_id bytea NOT NULL CHECK (octet_length(root_id) = 16),
    version integer NOT NULL CHECK (version >= 1),
    space   text COLLATE "C" NOT NULL CHECK (length(space) BETWEEN 1 AND 160),
    vectors bytea NOT NULL CHECK (octet_length(vectors) > 0),
    PRIMARY KEY (owner, root_id),
    FOREIGN KEY (owner, root_id) REFERENCES document_heads (owner, root_id)
);

ALTER TABLE document_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON document_vectors
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
