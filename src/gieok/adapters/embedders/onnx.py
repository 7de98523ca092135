"""Sentence models in ONNX: a folder with model.onnx, tokenizer.json and config.json."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from gieok.adapters.embedders.local import Encode, LocalEmbedder, Rows, load_tokenizer, mean_pooled
from gieok.errors import SettingsInvalid

_MAX_TOKENS = 512


class _ModelInput(Protocol):
    @property
    def name(self) -> str: ...


class _Session(Protocol):
    """The part of `onnxruntime.InferenceSession` in use. The library has no types."""

    def get_inputs(self) -> Sequence[_ModelInput]: ...
    def run(self, output_names: None, input_feed: Mapping[str, Any]) -> Sequence[Rows]: ...


def onnx_folder(folder: Path, languages: Collection[str] | None) -> LocalEmbedder:
    """The model in a folder. SettingsInvalid where a file is missing."""
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        if not (folder / name).is_file():
            raise SettingsInvalid(
                f"the embedder's folder {folder} has no file {name}; export the model again"
            )
    config = _read_json(folder / "config.json")
    dimension = config.get("hidden_size")
    if not isinstance(dimension, int) or dimension < 1:
        raise SettingsInvalid(f"{folder / 'config.json'} has no hidden_size")
    max_tokens = config.get("max_position_embeddings", _MAX_TOKENS)
    return LocalEmbedder(
        f"onnx:{folder.resolve().name}",
        dimension,
        languages,
        lambda: _load(folder, min(int(max_tokens), _MAX_TOKENS)),
    )


def _load(folder: Path, max_tokens: int) -> Encode:
    import onnxruntime  # noqa: PLC0415  in the extra `local`  # pyright: ignore[reportMissingTypeStubs]

    session = cast(_Session, vars(onnxruntime)["InferenceSession"](str(folder / "model.onnx")))
    input_names = {each.name for each in session.get_inputs()}
    tokenize = load_tokenizer(folder / "tokenizer.json", max_tokens=max_tokens)
    uses_first_token = _uses_first_token(folder)

    def encode(texts: Sequence[str]) -> Rows:
        batch = tokenize(texts)
        inputs = {
            "input_ids": batch.ids,
            "attention_mask": batch.mask,
            "token_type_ids": np.zeros_like(batch.ids),
        }
        states = session.run(None, {name: inputs[name] for name in input_names})[0]
        if states.ndim == 2:  # the model pools its tokens itself
            return states
        return states[:, 0] if uses_first_token else mean_pooled(states, batch.mask)

    return encode


def _uses_first_token(folder: Path) -> bool:
    """Whether the model represents a text by its first token (CLS) instead of the mean of all tokens."""
    pooling = folder / "1_Pooling" / "config.json"
    return pooling.is_file() and bool(_read_json(pooling).get("pooling_mode_cls_token"))


def _read_json(file: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsInvalid(f"{file} cannot be read as JSON: {type(error).__name__}") from error
    return cast(Mapping[str, Any], content) if isinstance(content, dict) else {}
