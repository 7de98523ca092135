"""Ranking: pure functions over numbers, without text, stores or clocks."""

from gieok.ranking.bm25 import bm25, idf, local_bm25
from gieok.ranking.signals import (
    above_mean,
    best_of_group,
    neighbour_scores,
    normalised,
    ranks,
    recency,
    repetition,
    weighted_sum,
)

__all__ = [
    "above_mean",
    "best_of_group",
    "bm25",
    "idf",
    "local_bm25",
    "neighbour_scores",
    "normalised",
    "ranks",
    "recency",
    "repetition",
    "weighted_sum",
]
