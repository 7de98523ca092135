"""What happened, as lines for a terminal. Nothing here adds a fact of its own."""
