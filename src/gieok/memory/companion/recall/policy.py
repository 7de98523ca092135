"""Policy of a plan for recall."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gieok.engine import Data
from gieok.memory.companion.hits import HitKind
from gieok.memory.fields import AccountPlan

MAX_TOP_K = 1_000

Degraded = Literal["vectors", "messages"]
"""A part of a search that failed where the plan allows it: the embedder, or messages that are not indexed
yet."""

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
    user: Weight
    latest: Weight
    pairs: Weight
    recency: Weight
    importance: Weight


class RecallPolicy(Data):
    """What is recalled, how much of it, and how it is scored."""

    kinds: Annotated[tuple[HitKind, ...], Field(min_length=1)]
    """What may be recalled: memories, messages of the log, facts."""
    without_messages: tuple[AccountPlan, ...]
    """The account plans for which messages are not recalled."""
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)]
    min_memories: Annotated[int, Field(ge=0, le=MAX_TOP_K)]
    """How many of the hits are memories at least, so that quotes do not take all places."""
    min_confidence: Annotated[float, Field(ge=0, le=1)]
    """Hits with less confidence are left out. Memories that only fill up have none and stay."""
    k1: Annotated[float, Field(gt=0, le=10)]
    b: Annotated[float, Field(ge=0, le=1)]
    added_weight: Annotated[float, Field(ge=0, le=10)]
    """The weight of a word that was added to describe a memory; a word of its text counts 1."""
    half_life_days: Annotated[float, Field(gt=0, le=1_000_000)]
    weights: Weights
    fill: bool
    """Whether to fill up with recent and important memories if fewer than `topK` match."""
    include_archived: bool
    allow_degraded: tuple[Degraded, ...]
    """The parts that may fail. The search continues without them and says so. `vectors` is the embedder,
    `messages` are messages that are not indexed yet."""
