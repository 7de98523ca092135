"""The archive in MongoDB."""
