-- Model usage of an owner per day.

-- name: add_usage(owner, day, calls, input_tokens, output_tokens)!
INSERT INTO usage_days (owner, day, calls, input_tokens, output_tokens)
VALUES (:owner, :day, :calls, :input_tokens, :output_tokens)
ON CONFLICT (owner, day) DO UPDATE
SET calls = usage_days.calls + excluded.calls,
    input_tokens = usage_days.input_tokens + excluded.input_tokens,
    output_tokens = usage_days.output_tokens + excluded.output_tokens;

-- name: get_usage(owner, day)^
SELECT calls, input_tokens, output_tokens FROM usage_days WHERE owner = :owner AND day = :day;

-- name: list_usage(owner, since)
SELECT day, calls, input_tokens, output_tokens
FROM usage_days
WHERE owner = :owner AND day >= :since
ORDER BY day DESC;

-- name: delete_usage_days(owner, day, limit)!
DELETE FROM usage_days
WHERE owner = :owner AND day IN (
    SELECT day FROM usage_days WHERE owner = :owner AND day < :day ORDER BY day LIMIT :limit
);

-- name: erase_usage_days(owner)!
DELETE FROM usage_days WHERE owner = :owner;
