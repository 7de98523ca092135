"""What a plan says about recall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from gieok.engine import Data

MAX_TOP_K = 1_000

Weight = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class Weights(Data):
    """How much each signal counts. `vectors` counts only where there is an embedder, `answer` only where
    `neighbours` do."""

    bm25: Weight
    vectors: Weight
    neighbours: Weight
    session: Weight
    speaker: Weight
    time: Weight
    statement: Weight
    answer: Weight
    pairs: Weight
    repeated: Weight
    recency: Weight
    importance: Weight

    @property
    def by_name(self) -> Mapping[str, float]:
        """The same, by the names of the signals."""
        return vars(self)


class RecallPolicy(Data):
    """How many memories are recalled, what they are chosen from, and by what."""

    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)]
    candidates: Annotated[int, Field(ge=1, le=10_000)]
    """How many memories that share a word or a time are scored at most."""
    k1: Annotated[float, Field(gt=0, le=10)]
    b: Annotated[float, Field(ge=0, le=1)]
    half_life_days: Annotated[float, Field(gt=0, le=1_000_000)]
    weights: Weights
    fill: bool
    """Whether recent and important memories take the places that no match takes."""
    include_archived: bool
