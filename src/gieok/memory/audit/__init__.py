"""The audit trail: what was done to an owner as a whole, and when. It holds no content."""
