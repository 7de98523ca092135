"""All that one owner has, out as records and in again. A carrier is a room's store with two more verbs."""
