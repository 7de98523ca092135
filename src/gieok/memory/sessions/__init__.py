"""Sessions: their plan and activity, the message log, and the queue of summaries."""
