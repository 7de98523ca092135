"""Recall across sessions: the query, candidates, signals and ranking."""
