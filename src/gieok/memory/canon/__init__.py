"""Personas, the facts that conversations change, and the state block of the prompt."""
