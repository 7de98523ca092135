"""Keyword memory of one session: what each turn was about, found again by its words."""
