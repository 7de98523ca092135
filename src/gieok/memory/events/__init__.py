"""Events: the transactional outbox. The commit that stores something also stores its event."""
