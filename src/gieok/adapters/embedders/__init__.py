"""Embedders: local models, and models on a server. `open_embedder` opens the one that the settings name.

`open_near_words` opens the words of similar meaning.
"""

from gieok.adapters.embedders.choose import ClosableEmbedder, open_embedder, open_near_words

__all__ = ["ClosableEmbedder", "open_embedder", "open_near_words"]
