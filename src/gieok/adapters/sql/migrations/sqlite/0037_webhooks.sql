-- Webhooks: where an owner's events are sent. Each is a consumer of events with the name `webhook:ID`. `kinds` are
-- separated by spaces; none means all. URL and secret are sealed.
CREATE TABLE webhooks (
    owner           TEXT    NOT NULL REFERENCES owners (owner),
    id              BLOB    NOT NULL CHECK (length(id) = 16),
    kinds           TEXT    NOT NULL,
    include_content INTEGER NOT NULL CHECK (include_content IN (0, 1)),
    content         BLOB    NOT NULL,
    created_at      INTEGER NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
