"""Embedders: the one that the settings name, found without loading any library or weights."""

from gieok.adapters.embedders.choose import OwnEmbedder, open_embedder

__all__ = ["OwnEmbedder", "open_embedder"]
