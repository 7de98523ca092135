-- The answer to a request with an idempotency key is sealed. `answer` has those of older versions, until they expire.

ALTER TABLE requests ADD COLUMN sealed bytea CHECK (octet_length(sealed) > 0);
