"""What travels over HTTP: one model for each body and each answer, camelCase and strict."""
