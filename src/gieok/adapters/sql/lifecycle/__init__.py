"""What concerns an owner or a database as a whole: erasure, key rotation, backup, export and import."""
