"""Policy of a plan for recall."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import Data

MAX_TOP_K = 1_000

Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class Weights(Data):
    """The weight of each signal. `vectors` needs an embedder, and `answer` needs `neighbours`."""

    bm25: Weight
    vectors: Weight
    neighbours: Weight
    session: Weight
    speaker: Weight
    time: Weight
    statement: Weight
    answer: Weight
    pairs: Weight
    recency: Weight
    importance: Weight


class RecallPolicy(Data):
    """How many memories are recalled, and how they are scored."""

    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)]
    k1: Annotated[float, Field(gt=0, le=10)]
    b: Annotated[float, Field(ge=0, le=1)]
    added_weight: Annotated[float, Field(ge=0, le=10)]
    """The weight of a word that was added to describe a memory; a word of its text counts 1."""
    half_life_days: Annotated[float, Field(gt=0, le=1_000_000)]
    weights: Weights
    fill: bool
    """Whether to fill up with recent and important memories if fewer than `topK` match."""
    include_archived: bool
