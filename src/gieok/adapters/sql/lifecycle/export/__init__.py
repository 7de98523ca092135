"""Export and import of everything that one owner has, as records."""
