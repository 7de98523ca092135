-- Raw messages of old sessions may be deleted, oldest first: how many were. The others keep their numbers.

ALTER TABLE sessions ADD COLUMN removed_count INTEGER NOT NULL DEFAULT 0
    CHECK (removed_count BETWEEN 0 AND message_count);

-- About how many values were sealed under the owner's current key. It is replaced long before 2^32, the number of random
-- nonces that is safe for one key.
ALTER TABLE owners ADD COLUMN seals BIGINT NOT NULL DEFAULT 0 CHECK (seals >= 0);
CREATE INDEX owners_to_rotate ON owners (owner) WHERE seals >= 1073741824;
