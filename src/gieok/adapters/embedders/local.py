"""Embedding models on this machine: loaded on first use, and run on a thread.

Two are here: `wordllama` (static word vectors) and the models of the library sentence-transformers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.vectors.search import Vector

Rows = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Rows]
"""Texts to vectors, one per row."""

BATCH_SIZE = 16
"""A query waits for at most one batch of documents."""
WORDLLAMA_NAME = "wordllama-l2-supercat"
WORDLLAMA_DIMENSION = 256
WORDLLAMA_MAX_TOKENS = 2_048


class LocalEmbedder:
    """Runs a model on this machine, one batch at a time."""

    def __init__(
        self, name: str, dimension: int, languages: Collection[str] | None, load: Callable[[], Encode]
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.languages = languages
        self._load = load
        self._encode: Encode | None = None
        self._lock = Lock()

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH_SIZE):
            vectors += await asyncio.to_thread(self._run, texts[start : start + BATCH_SIZE])
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await asyncio.to_thread(self._run, [text]))[0]

    async def close(self) -> None:
        """Free the weights."""
        self._encode = None

    def _run(self, texts: Sequence[str]) -> list[Vector]:
        with self._lock:
            try:
                if self._encode is None:
                    self._encode = self._load()
                rows = self._encode(texts)
            except Exception as error:
                # Each library has its own errors, and their messages may contain the text.
                raise ModelUnavailable(
                    f"the embedder {self.name} failed on this machine ({type(error).__name__}); "
                    "check its files, or reinstall it"
                ) from error
        return list(rows.tolist())


def wordllama(package: Path, languages: Collection[str] | None) -> LocalEmbedder:
    """The English word vectors inside the package `wordllama`: fast, small, and without word order.

    The weights are read as files, because importing the package would load a network client and configure
    the logging of the whole program.
    """

    def load() -> Encode:
        (table,) = load_weights(
            package / "weights" / f"l2_supercat_{WORDLLAMA_DIMENSION}.safetensors"
        ).values()
        tokenize = load_tokenizer(
            package / "tokenizers" / "l2_supercat_tokenizer_config.json",
            max_tokens=WORDLLAMA_MAX_TOKENS,
            add_special_tokens=False,
        )

        def encode(texts: Sequence[str]) -> Rows:
            batch = tokenize(texts)
            ids = np.minimum(batch.ids, len(table) - 1)
            return mean_pooled(table[ids].astype(np.float32), batch.mask)

        return encode

    return LocalEmbedder(WORDLLAMA_NAME, WORDLLAMA_DIMENSION, languages or {"en"}, load)


class _SentenceTransformer(Protocol):
    def encode(self, sentences: list[str], *, show_progress_bar: bool) -> Rows: ...


def sentence_transformer(name: str, languages: Collection[str] | None) -> LocalEmbedder:
    """A model of sentence-transformers by name or folder. SettingsInvalid where it cannot be loaded.

    It is loaded at once to learn its dimension from a vector: the method that returns the dimension has a
    different name in each major version of the library.
    """
    try:
        model: _SentenceTransformer = import_module("sentence_transformers").SentenceTransformer(name)
        _, dimension = model.encode(["기억"], show_progress_bar=False).shape
    except (OSError, ValueError) as error:
        raise SettingsInvalid(
            f"sentence-transformers cannot load a model '{name}': {type(error).__name__}"
        ) from error

    def encode(texts: Sequence[str]) -> Rows:
        return model.encode(list(texts), show_progress_bar=False)

    return LocalEmbedder(name, dimension, languages, lambda: encode)


class Batch(NamedTuple):
    """Token ids of texts, padded to the longest; the mask is 1 for a token and 0 for padding."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class _Encoding(Protocol):
    @property
    def ids(self) -> list[int]: ...
    @property
    def attention_mask(self) -> list[int]: ...


class _Tokenizer(Protocol):
    """The part of `tokenizers.Tokenizer` in use. The library's own types are incomplete."""

    def enable_truncation(self, max_length: int) -> None: ...
    def enable_padding(self) -> None: ...
    def encode_batch(self, texts: Sequence[str], *, add_special_tokens: bool) -> Sequence[_Encoding]: ...


def load_tokenizer(
    file: Path, *, max_tokens: int, add_special_tokens: bool = True
) -> Callable[[Sequence[str]], Batch]:
    """A tokenizer from a tokenizer.json. Longer texts are truncated."""
    from tokenizers import Tokenizer  # noqa: PLC0415  in the extra `local`

    tokenizer = cast(_Tokenizer, Tokenizer.from_file(str(file)))
    tokenizer.enable_truncation(max_length=max_tokens)
    tokenizer.enable_padding()

    def tokenize(texts: Sequence[str]) -> Batch:
        encoded = tokenizer.encode_batch(list(texts), add_special_tokens=add_special_tokens)
        return Batch(
            np.array([each.ids for each in encoded], dtype=np.int64),
            np.array([each.attention_mask for each in encoded], dtype=np.int64),
        )

    return tokenize


def load_weights(file: Path) -> Mapping[str, Rows]:
    """The tensors of a .safetensors file by name."""
    load = import_module("safetensors.numpy").load_file  # in the extra `local`; its types are incomplete
    return cast(Mapping[str, Rows], load(file))


def mean_pooled(states: Rows, mask: NDArray[np.int64]) -> Rows:
    """Average the token vectors of each text: (texts, tokens, numbers) to (texts, numbers)."""
    weights = mask[:, :, np.newaxis].astype(np.float32)
    return (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
