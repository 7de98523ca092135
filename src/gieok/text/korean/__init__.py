"""Korean: morphemes, names that the dictionary does not know, and romanization."""
