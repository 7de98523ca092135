"""Writes a tiny ONNX sentence model (a table of word vectors) without an ONNX library.

An ONNX file is a protocol buffer: fields with a number, a wire type (0 integer, 2 bytes) and a value.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

WORDS = {"[UNK]": 0, "[PAD]": 1, "zebra": 2, "ox": 3, "cat": 4}
TABLE = np.array([[0, 0, 0], [9, 9, 9], [1, 0, 0], [0, 1, 0], [0, 0.6, 0.8]], dtype=np.float32)


def write_folder(folder: Path, **config: object) -> Path:
    """model.onnx, tokenizer.json and config.json, as an exporter writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()  # type: ignore[assignment]  # the stub misses its setter
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(_model())
    (folder / "config.json").write_text(json.dumps({"hidden_size": 3, **config}))
    return folder


def _model() -> bytes:
    """Looks up each token of `input_ids` in the table: texts × tokens × 3."""
    table = _numbers(1, *TABLE.shape) + _number(2, 1) + _bytes(8, b"table") + _bytes(9, TABLE.tobytes())
    gather = (
        _bytes(1, b"table") + _bytes(1, b"input_ids") + _bytes(2, b"last_hidden_state") + _bytes(4, b"Gather")
    )
    graph = (
        _bytes(1, gather)
        + _bytes(2, b"lookup")
        + _bytes(5, table)
        + _bytes(11, _value(b"input_ids", 7))
        + _bytes(11, _value(b"attention_mask", 7))
        + _bytes(12, _value(b"last_hidden_state", 1, b"size"))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))


def _value(name: bytes, kind: int, *more: bytes) -> bytes:
    """The declaration of an input or output; kind 7 is int64 and 1 is float."""
    shape = b"".join(_bytes(1, _bytes(2, dimension)) for dimension in (b"texts", b"tokens", *more))
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _varint(value: int) -> bytes:
    head, rest = value & 0x7F, value >> 7
    return bytes([head | 0x80]) + _varint(rest) if rest else bytes([head])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _numbers(field: int, *values: int) -> bytes:
    return b"".join(_number(field, value) for value in values)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content
