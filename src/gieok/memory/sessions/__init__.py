"""Sessions: their state, the log of what was said in them, and what of it waits to be summarised."""
