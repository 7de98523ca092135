"""Ranking: pure functions over numbers. They know no text, no store and no clock."""

from gieok.ranking.bm25 import bm25, idf
from gieok.ranking.fusion import normalised, ranks, weighted_sum
from gieok.ranking.signals import cosine, neighbourhood, recency

__all__ = ["bm25", "cosine", "idf", "neighbourhood", "normalised", "ranks", "recency", "weighted_sum"]
