"""Static word vectors: a text is the mean of the vectors of its tokens. Fast, small, and blind to order.

The weights of `wordllama` lie in its package. They are read as files: importing the package would load a
network client and set up the logging of the whole program.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from gieok.adapters.embedders.local import Encode, LocalEmbedder, Rows, load_weights, mean_pooled
from gieok.adapters.embedders.tokens import load_tokenizer

WORDLLAMA_NAME = "wordllama-l2-supercat"
WORDLLAMA_DIMENSION = 256
_MOST_TOKENS = 2_048


def wordllama(package: Path, languages: Collection[str] | None) -> LocalEmbedder:
    """The weights inside the package `wordllama`, which know English."""

    def load() -> Encode:
        weights = package / "weights" / f"l2_supercat_{WORDLLAMA_DIMENSION}.safetensors"
        tokenizer = package / "tokenizers" / "l2_supercat_tokenizer_config.json"
        return load_static(weights, tokenizer)

    return LocalEmbedder(WORDLLAMA_NAME, WORDLLAMA_DIMENSION, languages or {"en"}, load)


def load_static(weights: Path, tokenizer: Path) -> Encode:
    """The one table of a weights file, looked up by token."""
    (table,) = load_weights(weights).values()
    tokenize = load_tokenizer(tokenizer, most=_MOST_TOKENS, add_special_tokens=False)

    def encode(texts: Sequence[str]) -> Rows:
        batch = tokenize(texts)
        known = np.minimum(batch.ids, len(table) - 1)
        return mean_pooled(table[known].astype(np.float32), batch.mask)

    return encode
