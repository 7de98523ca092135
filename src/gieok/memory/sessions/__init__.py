"""Which plan a session last ran, so that it cannot be resumed under another by accident."""
