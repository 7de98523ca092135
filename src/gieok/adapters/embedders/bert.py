"""A BERT in numpy: the forward pass of a small sentence model, without a deep-learning library."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from gieok.adapters.embedders.local import Encode, LocalEmbedder, Rows, load_weights, mean_pooled
from gieok.adapters.embedders.tokens import Batch, load_tokenizer

MINILM_NAME = "all-MiniLM-L6-v2"
MINILM_DIMENSION = 384
_LAYERS = 6
_HEADS = 12
_MOST_TOKENS = 256
_EPSILON = np.float32(1e-12)

Weights = Mapping[str, Rows]


def minilm(folder: Path, languages: Collection[str] | None) -> LocalEmbedder:
    """all-MiniLM-L6-v2 from its weights and its tokenizer. It knows English."""

    def load() -> Encode:
        weights = load_weights(folder / "model.safetensors")
        tokenize = load_tokenizer(folder / "tokenizer.json", most=_MOST_TOKENS)

        def encode(texts: Sequence[str]) -> Rows:
            batch = tokenize(texts)
            return mean_pooled(_states(weights, batch), batch.mask)

        return encode

    return LocalEmbedder(MINILM_NAME, MINILM_DIMENSION, languages or {"en"}, load)


def _states(weights: Weights, batch: Batch) -> Rows:
    """The last hidden state of every token."""
    states = weights["embeddings.word_embeddings.weight"][batch.ids]
    states = states + weights["embeddings.position_embeddings.weight"][: batch.ids.shape[1]]
    states += weights["embeddings.token_type_embeddings.weight"][0]
    states = _normal(weights, "embeddings.LayerNorm", states)
    hidden = np.where(batch.mask[:, np.newaxis, np.newaxis, :] == 1, np.float32(0), np.float32(-1e9))
    for layer in range(_LAYERS):
        at = f"encoder.layer.{layer}"
        seen = _dense(weights, f"{at}.attention.output.dense", _attention(weights, at, states, hidden))
        states = _normal(weights, f"{at}.attention.output.LayerNorm", states + seen)
        inner = _gelu(_dense(weights, f"{at}.intermediate.dense", states))
        states = _normal(
            weights, f"{at}.output.LayerNorm", states + _dense(weights, f"{at}.output.dense", inner)
        )
    return states


def _attention(weights: Weights, at: str, states: Rows, hidden: Rows) -> Rows:
    texts, tokens, size = states.shape

    def heads(name: str) -> Rows:
        each = _dense(weights, f"{at}.attention.self.{name}", states)
        return each.reshape(texts, tokens, _HEADS, size // _HEADS).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size // _HEADS)) + hidden
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    return (scores @ value).transpose(0, 2, 1, 3).reshape(texts, tokens, size)


def _dense(weights: Weights, name: str, states: Rows) -> Rows:
    flat = states.reshape(-1, states.shape[-1]) @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return flat.reshape(*states.shape[:-1], -1)


def _normal(weights: Weights, name: str, states: Rows) -> Rows:
    centred = states - states.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + _EPSILON)
    return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _gelu(states: Rows) -> Rows:
    """x · Φ(x). The error function by Abramowitz and Stegun 7.1.26, which is right to seven digits."""
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
