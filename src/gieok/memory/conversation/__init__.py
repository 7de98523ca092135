"""One turn of talk: what the model is told, and what it answers."""
