"""Keyword memory of one session: a summary of each turn, found by its keywords."""
