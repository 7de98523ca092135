-- Across owners: who has no row of a consumer yet, and an operator's counts of the outbox.

-- name: list_owners_without_consumer(after, consumer, limit)
-- The next owners by name. Needs `open_owners` in the same transaction.
SELECT owner
FROM owners
WHERE owner > :after AND erased_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM event_consumers
    WHERE event_consumers.owner = owners.owner AND event_consumers.consumer = :consumer
)
ORDER BY owner
LIMIT :limit;

-- name: list_owners_without_delivery(limit)
-- Owners with events that no job will deliver.
SELECT DISTINCT owner
FROM events
WHERE NOT EXISTS (
    SELECT 1 FROM jobs WHERE jobs.owner = events.owner AND jobs.kind = 'deliver' AND jobs.due_at IS NOT NULL
)
LIMIT :limit;

-- name: count_event_consumers()
SELECT count(*) FROM event_consumers;

-- name: count_events()
SELECT count(*), min(at) FROM events;

-- name: count_dead_letters()
SELECT count(*) FROM dead_letters;
