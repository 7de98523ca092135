"""English: stop words and stems."""
