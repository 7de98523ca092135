"""Models of the library sentence-transformers, where the user has installed it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Protocol

from gieok.adapters.embedders.local import Encode, LocalEmbedder, Rows
from gieok.errors import SettingsInvalid


class _Model(Protocol):
    def encode(self, sentences: list[str], *, show_progress_bar: bool) -> Rows: ...


def sentence_transformer(name: str, languages: Collection[str] | None) -> LocalEmbedder:
    """The model of this name or folder. It is loaded at once, because only a vector tells its dimension:
    the method that does has another name in each major version of the library."""
    try:
        model: _Model = import_module("sentence_transformers").SentenceTransformer(name)
        _, dimension = model.encode(["기억"], show_progress_bar=False).shape
    except (OSError, ValueError) as error:
        raise SettingsInvalid(
            f"sentence-transformers has no model '{name}' that it can load: {type(error).__name__}"
        ) from error

    def encode(texts: Sequence[str]) -> Rows:
        return model.encode(list(texts), show_progress_bar=False)

    def load() -> Encode:
        return encode

    return LocalEmbedder(name, dimension, languages, load)
