-- How much of language models was used for an owner on each day.

-- `day` is a day in UTC, as 2026-01-31. Numbers only, no content.
CREATE TABLE usage_days (
    owner         text COLLATE "C" NOT NULL REFERENCES owners (owner),
    day           text COLLATE "C" NOT NULL CHECK (length(day) = 10),
    calls         bigint NOT NULL CHECK (calls >= 0),
    input_tokens  bigint NOT NULL CHECK (input_tokens >= 0),
    output_tokens bigint NOT NULL CHECK (output_tokens >= 0),
    PRIMARY KEY (owner, day)
);

ALTER TABLE usage_days ENABLE ROW LEVEL SECURITY;
ALTER TABLE usage_days FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON usage_days
    USING (owner = current_setting('gieok.owner', true))
    WITH CHECK (owner = current_setting('gieok.owner', true));
