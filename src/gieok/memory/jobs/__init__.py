"""Background jobs: one queue for all kinds of work, with leases, retries and fencing tokens."""
