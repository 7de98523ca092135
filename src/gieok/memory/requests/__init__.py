"""Requests that a client names, so that asking twice has the effect of asking once."""
