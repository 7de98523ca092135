"""Texts to the numbers that a transformer reads, by the tokenizer.json that comes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray


class Batch(NamedTuple):
    """Texts as rows of token ids, padded to the longest of them; the mask is 1 where a token is."""

    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


class _Encoding(Protocol):
    @property
    def ids(self) -> list[int]: ...
    @property
    def attention_mask(self) -> list[int]: ...


class _Tokenizer(Protocol):
    """What is used of `tokenizers.Tokenizer`, whose types are partly unknown."""

    def enable_truncation(self, max_length: int) -> None: ...
    def enable_padding(self) -> None: ...
    def encode_batch(self, texts: Sequence[str], *, add_special_tokens: bool) -> Sequence[_Encoding]: ...


def load_tokenizer(
    file: Path, *, most: int, add_special_tokens: bool = True
) -> Callable[[Sequence[str]], Batch]:
    """A function that turns texts into a batch. Of a longer text, the first `most` tokens count."""
    from tokenizers import Tokenizer  # noqa: PLC0415  in the extra `local`

    tokenizer = cast(_Tokenizer, Tokenizer.from_file(str(file)))
    tokenizer.enable_truncation(max_length=most)
    tokenizer.enable_padding()

    def encode(texts: Sequence[str]) -> Batch:
        encoded = tokenizer.encode_batch(list(texts), add_special_tokens=add_special_tokens)
        return Batch(
            np.array([each.ids for each in encoded], dtype=np.int64),
            np.array([each.attention_mask for each in encoded], dtype=np.int64),
        )

    return encode
