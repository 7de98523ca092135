-- What crosses owners: the names of all of them, so that an erasure is replayed on a database that was restored.

-- name: open_owners()
-- SQLite has no row-level security to be let through.
SELECT 1;

-- name: list_owners(after, limit)
SELECT owner, key_generation FROM owners WHERE owner > :after ORDER BY owner LIMIT :limit;
