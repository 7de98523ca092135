"""Decisions as Markdown files, one a decision, so that a team can read, review and keep them as text."""
