"""all-MiniLM-L6-v2: the forward pass of a small BERT in numpy, without a deep-learning library."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from gieok.adapters.embedders.local import (
    Batch,
    Encode,
    LocalEmbedder,
    Rows,
    load_tokenizer,
    load_weights,
    mean_pooled,
)

MINILM_NAME = "all-MiniLM-L6-v2"
MINILM_DIMENSION = 384
_LAYERS = 6
_HEADS = 12
_MAX_TOKENS = 256
_EPSILON = np.float32(1e-12)

Weights = Mapping[str, Rows]


def minilm(folder: Path, languages: Collection[str] | None) -> LocalEmbedder:
    """The model from a folder with its weights and tokenizer. English only."""

    def load() -> Encode:
        weights = load_weights(folder / "model.safetensors")
        tokenize = load_tokenizer(folder / "tokenizer.json", max_tokens=_MAX_TOKENS)

        def encode(texts: Sequence[str]) -> Rows:
            batch = tokenize(texts)
            return mean_pooled(_hidden_states(weights, batch), batch.mask)

        return encode

    return LocalEmbedder(MINILM_NAME, MINILM_DIMENSION, languages or {"en"}, load)


def _hidden_states(weights: Weights, batch: Batch) -> Rows:
    """The last hidden states of all tokens."""
    states = weights["embeddings.word_embeddings.weight"][batch.ids]
    states = states + weights["embeddings.position_embeddings.weight"][: batch.ids.shape[1]]
    states += weights["embeddings.token_type_embeddings.weight"][0]
    states = _layer_norm(weights, "embeddings.LayerNorm", states)
    padding = np.where(batch.mask[:, np.newaxis, np.newaxis, :] == 1, np.float32(0), np.float32(-1e9))
    for layer in range(_LAYERS):
        layer_name = f"encoder.layer.{layer}"
        attended = _dense(
            weights, f"{layer_name}.attention.output.dense", _attention(weights, layer_name, states, padding)
        )
        states = _layer_norm(weights, f"{layer_name}.attention.output.LayerNorm", states + attended)
        inner = _gelu(_dense(weights, f"{layer_name}.intermediate.dense", states))
        states = _layer_norm(
            weights,
            f"{layer_name}.output.LayerNorm",
            states + _dense(weights, f"{layer_name}.output.dense", inner),
        )
    return states


def _attention(weights: Weights, layer_name: str, states: Rows, padding: Rows) -> Rows:
    texts, tokens, size = states.shape

    def heads(name: str) -> Rows:
        each = _dense(weights, f"{layer_name}.attention.self.{name}", states)
        return each.reshape(texts, tokens, _HEADS, size // _HEADS).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size // _HEADS)) + padding
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    return (scores @ value).transpose(0, 2, 1, 3).reshape(texts, tokens, size)


def _dense(weights: Weights, name: str, states: Rows) -> Rows:
    flat = states.reshape(-1, states.shape[-1]) @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return flat.reshape(*states.shape[:-1], -1)


def _layer_norm(weights: Weights, name: str, states: Rows) -> Rows:
    centred = states - states.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + _EPSILON)
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _gelu(states: Rows) -> Rows:
    """x · Φ(x). The error function by Abramowitz and Stegun 7.1.26, accurate to seven digits."""
    x = np.abs(states) * np.float32(2**-0.5)
    t = 1 / (1 + np.float32(0.3275911) * x)
    series = t * (
        np.float32(0.254829592)
        + t
        * (
            np.float32(-0.284496736)
            + t * (np.float32(1.421413741) + t * (np.float32(-1.453152027) + t * np.float32(1.061405429)))
        )
    )
    erf = np.copysign(1 - series * np.exp(-np.square(x)), states)
    return np.float32(0.5) * states * (1 + erf)
