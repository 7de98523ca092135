"""Ranking: pure functions over numbers. They know no text, no store and no clock."""

from gieok.ranking.bm25 import bm25, bm25_among, idf
from gieok.ranking.fusion import normalised, ranks, weighted_sum
from gieok.ranking.signals import best_of_group, neighbourhood, recency, standing_out, told_again

__all__ = [
    "best_of_group",
    "bm25",
    "bm25_among",
    "idf",
    "neighbourhood",
    "normalised",
    "ranks",
    "recency",
    "standing_out",
    "told_again",
    "weighted_sum",
]
