"""SQLite and PostgreSQL behind one port: transactions, threads, migrations, named queries."""
