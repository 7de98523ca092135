-- Webhooks: where an owner's events are sent. Each is a consumer of events with the name `webhook:ID`. `kinds` are
-- separated by spaces; none means all. URL and secret are sealed.
CREATE TABLE webhooks (
    owner           text COLLATE "C" NOT NULL REFERENCES owners (owner),
    id              bytea NOT NULL CHECK (octet_length(id) = 16),
    kinds           text NOT NULL,
    include_content smallint NOT NULL CHECK (include_content IN (0, 1)),
    content         bytea NOT NULL,
    created_at      bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, id)
);

ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON webhooks
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
