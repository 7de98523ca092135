-- Across owners: what a consumer of events, such as the archive, has not got yet.

-- name: count_undelivered(consumer)
-- How many, and the time of the oldest.
SELECT count(*), min(events.at)
FROM events
INNER JOIN event_consumers AS one ON one.owner = events.owner AND one.consumer = :consumer
WHERE events.number > one.position;

-- name: count_backfilling(consumer)
SELECT count(*) FROM event_consumers WHERE consumer = :consumer AND is_backfilled = 0;
