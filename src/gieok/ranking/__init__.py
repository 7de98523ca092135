"""Ranking: the search index as arrays, and pure functions over it, without text, stores or clocks."""

from gieok.ranking.bm25 import Floats, bm25_of_texts, bm25f, idf
from gieok.ranking.index import (
    EMPTY_INDEX,
    Column,
    Damaged,
    Flags,
    IndexRow,
    Match,
    Neighbours,
    SearchIndex,
    pack_keywords,
    pack_terms,
    packed_tokens,
)
from gieok.ranking.signals import (
    above_mean,
    best_of_session,
    best_rows,
    following_scores,
    neighbour_scores,
    normalised,
    ranks_of,
    recency,
    session_coverage,
)
from gieok.ranking.vectors import VectorRows, pack_rows, unit_rows, unpack_rows

__all__ = [
    "EMPTY_INDEX",
    "Column",
    "Damaged",
    "Flags",
    "Floats",
    "IndexRow",
    "Match",
    "Neighbours",
    "SearchIndex",
    "VectorRows",
    "above_mean",
    "best_of_session",
    "best_rows",
    "bm25_of_texts",
    "bm25f",
    "following_scores",
    "idf",
    "neighbour_scores",
    "normalised",
    "pack_keywords",
    "pack_rows",
    "pack_terms",
    "packed_tokens",
    "ranks_of",
    "recency",
    "session_coverage",
    "unit_rows",
    "unpack_rows",
]
