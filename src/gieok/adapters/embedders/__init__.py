"""Embedders: local models, and models on a server. `open_embedder` opens the one that the settings name."""

from gieok.adapters.embedders.choose import ClosableEmbedder, open_embedder

__all__ = ["ClosableEmbedder", "open_embedder"]
