"""Vectors of memories and vector search."""
