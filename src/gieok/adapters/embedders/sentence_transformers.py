"""Models of the library sentence-transformers, where the user has installed it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Protocol

from gieok.adapters.embedders.local import Encode, LocalEmbedder, Rows
from gieok.errors import SettingsInvalid


class _Model(Protocol):
    def get_sentence_embedding_dimension(self) -> int | None: ...
    def encode(self, sentences: list[str], *, show_progress_bar: bool) -> Rows: ...


def sentence_transformer(name: str, languages: Collection[str] | None) -> LocalEmbedder:
    """The model of this name or folder. It is loaded at once, because only it knows its dimension."""
    try:
        model: _Model = import_module("sentence_transformers").SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise SettingsInvalid(
            f"sentence-transformers has no model '{name}' that it can load: {type(error).__name__}"
        ) from error
    dimension = model.get_sentence_embedding_dimension()
    if not dimension:
        raise SettingsInvalid(f"the model '{name}' makes no vectors of sentences")

    def encode(texts: Sequence[str]) -> Rows:
        return model.encode(list(texts), show_progress_bar=False)

    def load() -> Encode:
        return encode

    return LocalEmbedder(name, dimension, languages, load)
