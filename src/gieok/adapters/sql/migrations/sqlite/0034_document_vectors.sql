-- Vectors of documents, made by the caller's embedding model: sealed like their text, all of a document in one value.
-- A document has vectors of its newest version, in one space.
CREATE TABLE document_vectors (
    owner   TEXT    NOT NULL,
    root_id BLOB    NOT NULL CHECK (length(root_id) = 16),
    version INTEGER NOT NULL CHECK (version >= 1),
    space   TEXT    NOT NULL CHECK (length(space) BETWEEN 1 AND 160),
    vectors BLOB    NOT NULL CHECK (length(vectors) > 0),
    PRIMARY KEY (owner, root_id),
    FOREIGN KEY (owner, root_id) REFERENCES document_heads (owner, root_id)
) STRICT;
