"""The transactional outbox."""
