-- The transactional outbox. Events are recorded only for owners who have a consumer: `owners.consumers` has their names,
-- separated by spaces, where every write reads them together with the key generation.
ALTER TABLE owners ADD COLUMN consumers text NOT NULL DEFAULT '';

-- The number of the owner's last event. Its row is locked from the recording to the commit, so that numbers become
-- visible in their order.
CREATE TABLE event_heads (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    last_number bigint NOT NULL CHECK (last_number >= 0),
    PRIMARY KEY (owner)
);

-- Ids and kinds only. An event is deleted when all consumers have got it.
CREATE TABLE events (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    number      bigint NOT NULL CHECK (number >= 1),
    kind        text NOT NULL,
    subject     text NOT NULL,
    session_ref text,
    persona_id  text,
    seq         bigint,
    version     bigint,
    at          bigint NOT NULL CHECK (at >= 0),
    PRIMARY KEY (owner, number)
);

-- `position` is the number of the last event that was delivered or became a dead letter.
CREATE TABLE event_consumers (
    owner         text COLLATE "C" NOT NULL REFERENCES owners (owner),
    consumer      text COLLATE "C" NOT NULL,
    position      bigint NOT NULL CHECK (position >= 0),
    is_backfilled smallint NOT NULL CHECK (is_backfilled IN (0, 1)),
    cursor        text,
    created_at    bigint NOT NULL CHECK (created_at >= 0),
    PRIMARY KEY (owner, consumer)
);

CREATE TABLE dead_letters (
    owner       text COLLATE "C" NOT NULL REFERENCES owners (owner),
    consumer    text COLLATE "C" NOT NULL,
    number      bigint NOT NULL CHECK (number >= 1),
    kind        text NOT NULL,
    subject     text NOT NULL,
    session_ref text,
    persona_id  text,
    seq         bigint,
    version     bigint,
    at          bigint NOT NULL CHECK (at >= 0),
    attempts    bigint NOT NULL CHECK (attempts >= 1),
    error       text NOT NULL,
    failed_at   bigint NOT NULL CHECK (failed_at >= 0),
    is_retried  smallint NOT NULL CHECK (is_retried IN (0, 1)),
    PRIMARY KEY (owner, consumer, number)
);

ALTER TABLE event_heads ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_heads FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON event_heads
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));

ALTER TABLE events ENABLE ROW LEVEL SECURITY;
ALTER TABLE events FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON events
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
CREATE POLICY worker_sees ON events FOR SELECT USING (current_setting('gieok.worker', true) = 'on');

ALTER TABLE event_consumers ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_consumers FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON event_consumers
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
CREATE POLICY worker_sees ON event_consumers FOR SELECT USING (current_setting('gieok.worker', true) = 'on');

ALTER TABLE dead_letters ENABLE ROW LEVEL SECURITY;
ALTER TABLE dead_letters FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON dead_letters
USING (owner = current_setting('gieok.owner', true)) WITH CHECK (owner = current_setting('gieok.owner', true));
CREATE POLICY worker_sees ON dead_letters FOR SELECT USING (current_setting('gieok.worker', true) = 'on');
