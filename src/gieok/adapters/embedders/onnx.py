"""A sentence model in a folder, as exporters write it: model.onnx, tokenizer.json and config.json."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

from gieok.adapters.embedders.local import Encode, LocalEmbedder, Rows, mean_pooled
from gieok.adapters.embedders.tokens import load_tokenizer
from gieok.errors import SettingsInvalid

_MOST_TOKENS = 512


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Session(Protocol):
    """What is used of `onnxruntime.InferenceSession`, which has no types."""

    def get_inputs(self) -> Sequence[_Named]: ...
    def run(self, output_names: None, input_feed: Mapping[str, Any]) -> Sequence[Rows]: ...


def onnx_folder(folder: Path, languages: Collection[str] | None) -> LocalEmbedder:
    """The model of a folder. SettingsInvalid where a file is missing."""
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        if not (folder / name).is_file():
            raise SettingsInvalid(f"the embedder's folder {folder} has no file {name}; export the model anew")
    config = _json(folder / "config.json")
    dimension = config.get("hidden_size")
    if not isinstance(dimension, int) or dimension < 1:
        raise SettingsInvalid(f"{folder / 'config.json'} does not say its hidden_size")
    most = config.get("max_position_embeddings", _MOST_TOKENS)
    return LocalEmbedder(
        f"onnx:{folder.resolve().name}",
        dimension,
        languages,
        lambda: _load(folder, min(int(most), _MOST_TOKENS)),
    )


def _load(folder: Path, most: int) -> Encode:
    import onnxruntime  # noqa: PLC0415  in the extra `local`  # pyright: ignore[reportMissingTypeStubs]

    session = cast(_Session, vars(onnxruntime)["InferenceSession"](str(folder / "model.onnx")))
    wanted = {each.name for each in session.get_inputs()}
    tokenize = load_tokenizer(folder / "tokenizer.json", most=most)
    takes_first = _takes_first_token(folder)

    def encode(texts: Sequence[str]) -> Rows:
        batch = tokenize(texts)
        given = {
            "input_ids": batch.ids,
            "attention_mask": batch.mask,
            "token_type_ids": np.zeros_like(batch.ids),
        }
        states = session.run(None, {name: given[name] for name in wanted})[0]
        if states.ndim == 2:  # the model pools by itself
            return states
        return states[:, 0] if takes_first else mean_pooled(states, batch.mask)

    return encode


def _takes_first_token(folder: Path) -> bool:
    """Whether the model was trained with the first token for the whole text instead of the mean."""
    pooling = folder / "1_Pooling" / "config.json"
    return pooling.is_file() and bool(_json(pooling).get("pooling_mode_cls_token"))


def _json(file: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsInvalid(f"{file} cannot be read as JSON: {type(error).__name__}") from error
    return cast(Mapping[str, Any], content) if isinstance(content, dict) else {}
