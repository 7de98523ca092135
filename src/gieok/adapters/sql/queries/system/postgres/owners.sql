-- What crosses owners: the names of all of them, so that an erasure is replayed on a database that was restored.

-- name: open_owners()
-- For this transaction, row-level security shows the names.
SELECT set_config('gieok.replay', 'on', true);

-- name: list_owners(after, limit)
SELECT owner, key_generation FROM owners WHERE owner > :after ORDER BY owner LIMIT :limit;
