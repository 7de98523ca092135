"""Redis as a cache that the processes of a service share. Loaded only if GIEOK_CACHE_URL is set."""
