-- The transactional outbox of one owner. The events are recorded at the end of the transaction that stores their subject.

-- name: take_event_numbers(owner, count)^
-- The last of so many new numbers. The row stays locked until the commit, so that numbers are committed in their order.
UPDATE event_heads SET last_number = last_number + :count WHERE owner = :owner RETURNING last_number;

-- name: lock_event_head(owner)^
-- Holds off writers that record events. Before the job of a delivery is settled, in the order of these writers.
SELECT last_number FROM event_heads WHERE owner = :owner FOR UPDATE;

-- name: add_events(owner, number, kind, subject, session_ref, persona_id, seq, version, at)*!
INSERT INTO events (owner, number, kind, subject, session_ref, persona_id, seq, version, at)
VALUES (:owner, :number, :kind, :subject, :session_ref, :persona_id, :seq, :version, :at);

-- name: list_pending_events(owner, consumer, limit)
SELECT number, kind, subject, session_ref, persona_id, seq, version, at
FROM events
WHERE owner = :owner AND number > (
    SELECT position FROM event_consumers WHERE owner = :owner AND consumer = :consumer
)
ORDER BY number
LIMIT :limit;

-- name: delete_delivered_events(owner)!
-- Those that all consumers have got; all, if there is no consumer.
DELETE FROM events
WHERE owner = :owner AND number <= (
    SELECT coalesce(min(position), 9223372036854775807) FROM event_consumers WHERE owner = :owner
);

-- name: add_event_head(owner)!
INSERT INTO event_heads (owner, last_number) VALUES (:owner, 0) ON CONFLICT (owner) DO NOTHING;

-- name: add_event_consumer(owner, consumer, is_backfilled, created_at)!
-- Begins after the last event. 0 rows if it exists.
INSERT INTO event_consumers (owner, consumer, position, is_backfilled, cursor, created_at)
SELECT :owner, :consumer, last_number, :is_backfilled, NULL, :created_at FROM event_heads WHERE owner = :owner
ON CONFLICT (owner, consumer) DO NOTHING;

-- name: remove_event_consumer(owner, consumer)!
DELETE FROM event_consumers WHERE owner = :owner AND consumer = :consumer;

-- name: list_event_consumers(owner)
SELECT consumer, position, is_backfilled, cursor FROM event_consumers WHERE owner = :owner ORDER BY consumer;

-- name: lock_owner_alone(owner)^
-- Waits for the writers of this owner and holds off new ones: later ones record events, earlier ones are backfilled.
SELECT erased_at FROM owners WHERE owner = :owner FOR UPDATE;

-- name: get_owner_consumers(owner)^
SELECT consumers FROM owners WHERE owner = :owner;

-- name: set_owner_consumers(owner, consumers)!
UPDATE owners SET consumers = :consumers WHERE owner = :owner;

-- name: move_event_consumer(owner, consumer, position)!
-- Never back.
UPDATE event_consumers SET position = :position
WHERE owner = :owner AND consumer = :consumer AND position < :position;

-- name: save_backfill(owner, consumer, cursor, is_backfilled)!
UPDATE event_consumers SET cursor = :cursor, is_backfilled = :is_backfilled
WHERE owner = :owner AND consumer = :consumer;

-- name: save_dead_letter(owner, consumer, number, kind, subject, session_ref, persona_id, seq, version, at, attempts, error, failed_at)!
INSERT INTO dead_letters
    (owner, consumer, number, kind, subject, session_ref, persona_id, seq, version, at, attempts, error, failed_at,
     is_retried)
VALUES
    (:owner, :consumer, :number, :kind, :subject, :session_ref, :persona_id, :seq, :version, :at, :attempts, :error,
     :failed_at, 0)
ON CONFLICT (owner, consumer, number) DO UPDATE
SET attempts = excluded.attempts, error = excluded.error, failed_at = excluded.failed_at, is_retried = 0;

-- name: list_dead_letters(owner, consumer, number, limit)
-- By consumer and number.
SELECT
    number, kind, subject, session_ref, persona_id, seq, version, at, consumer, attempts, error, failed_at, is_retried
FROM dead_letters
WHERE owner = :owner AND (consumer, number) > (:consumer, :number)
ORDER BY consumer, number
LIMIT :limit;

-- name: list_dead_letters_of(owner, consumer, number, limit)
SELECT
    number, kind, subject, session_ref, persona_id, seq, version, at, consumer, attempts, error, failed_at, is_retried
FROM dead_letters
WHERE owner = :owner AND consumer = :consumer AND number > :number
ORDER BY number
LIMIT :limit;

-- name: list_retried_letters(owner, consumer, limit)
SELECT
    number, kind, subject, session_ref, persona_id, seq, version, at, consumer, attempts, error, failed_at, is_retried
FROM dead_letters
WHERE owner = :owner AND consumer = :consumer AND is_retried = 1
ORDER BY number
LIMIT :limit;

-- name: retry_dead_letter(owner, consumer, number)!
UPDATE dead_letters SET is_retried = 1 WHERE owner = :owner AND consumer = :consumer AND number = :number;

-- name: retry_dead_letters(owner, consumer)!
UPDATE dead_letters SET is_retried = 1 WHERE owner = :owner AND consumer = :consumer;

-- name: remove_dead_letter(owner, consumer, number)!
DELETE FROM dead_letters WHERE owner = :owner AND consumer = :consumer AND number = :number;

-- name: remove_dead_letters(owner, consumer)!
DELETE FROM dead_letters WHERE owner = :owner AND consumer = :consumer;

-- name: delete_old_dead_letters(owner, before, limit)!
DELETE FROM dead_letters
WHERE owner = :owner AND (consumer, number) IN (
    SELECT consumer, number FROM dead_letters
    WHERE owner = :owner AND failed_at < :before AND is_retried = 0
    ORDER BY failed_at, consumer, number
    LIMIT :limit
);

-- name: remove_delivery_job(owner, consumer)!
DELETE FROM jobs WHERE owner = :owner AND kind = 'deliver' AND subject = :consumer;

-- name: erase_event_heads(owner)!
DELETE FROM event_heads WHERE owner = :owner;

-- name: erase_events(owner, limit)!
-- The next rows of an erased owner.
DELETE FROM events WHERE owner = :owner AND number IN (
    SELECT number FROM events WHERE owner = :owner LIMIT :limit
);

-- name: erase_event_consumers(owner)!
DELETE FROM event_consumers WHERE owner = :owner;

-- name: erase_dead_letters(owner)!
DELETE FROM dead_letters WHERE owner = :owner;
