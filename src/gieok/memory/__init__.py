"""The rooms: each has frozen records, a store as a Protocol, pure rules and thin steps."""
