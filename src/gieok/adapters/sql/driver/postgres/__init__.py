"""PostgreSQL: sessions, the database on them, its schema, and the mapping of its errors."""
