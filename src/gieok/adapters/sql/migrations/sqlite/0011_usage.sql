-- How much of language models was used for an owner on each day.

-- `day` is a day in UTC, as 2026-01-31. Numbers only, no content.
CREATE TABLE usage_days (
    owner         TEXT    NOT NULL REFERENCES owners (owner),
    day           TEXT    NOT NULL CHECK (length(day) = 10),
    calls         INTEGER NOT NULL CHECK (calls >= 0),
    input_tokens  INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
    PRIMARY KEY (owner, day)
) STRICT, WITHOUT ROWID;
