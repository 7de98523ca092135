"""The two keystores in SQL: the same operations and queries, in a file or in a schema of their own."""
