"""Episodic and emotional memory of one user and one persona, across sessions."""
