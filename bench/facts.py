"""Fact extraction of the offline model: precision, recall and processor time.

Measured on the blind table in `tests/models/facts/sentences.toml`. The rules were tuned on one half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

from bench.table import Row, Table, at_least, micros
from gieok.adapters.models.offline.facts import facts_in
from gieok.adapters.models.offline.reading import read
from gieok.memory.observations import Category
from tests.models.facts.score import BLIND, OfflineRules, Score, Sentence, score, sentences

_PRECISION, _RECALL = 0.9, 0.6
_LANGUAGES = {"ko": "Korean", "en": "English"}


async def run(*, short: bool) -> Sequence[Table]:
    """Measure each half by language and category, the whole table, and the time per sentence."""
    table, model = sentences(*BLIND), OfflineRules()
    halves = [
        Table(f"Facts, {half} half", await _half(model, [each for each in table if each.group == half]))
        for half in BLIND
    ]
    result = await score(model, table)
    whole = [
        *_pair("all", result, goals=True),
        *[await _cost(table, language, rounds=2 if short else 20) for language in _LANGUAGES],
    ]
    return [*halves, Table(f"Facts, all {len(table)} sentences", whole)]


async def _half(model: OfflineRules, table: Sequence[Sentence]) -> list[Row]:
    rows: list[Row] = []
    for language, name in _LANGUAGES.items():
        rows += _pair(name, await score(model, [each for each in table if each.language == language]))
    result = await score(model, table)
    for category in Category:
        if result.right[category] + result.missed[category] + result.wrong[category]:
            rows += _pair(category.value, result, category)
    return rows


def _pair(name: str, result: Score, *of: Category, goals: bool = False) -> list[Row]:
    figures = (
        ("precision", result.precision(*of), _PRECISION),
        ("recall", result.recall(*of), _RECALL),
    )
    return [
        Row(
            f"{what}, {name}",
            f"{value:.2f}",
            "wanted",
            f"{bound:.2f}",
            value / bound,
            at_least(value, bound, "") if goals else None,
        )
        for what, value, bound in figures
    ]


async def _cost(table: Sequence[Sentence], language: str, rounds: int) -> Row:
    """Processor time per sentence: the minimum of the rounds, because other programs only add to it."""
    said = [each.said for each in table if each.language == language]
    whole, analysis = list[float](), list[float]()
    for _ in range(rounds):
        started = process_time()
        for text in said:
            facts_in(text, "", (), "")
        between = process_time()
        for text in said:
            read(text)
        whole.append((between - started) / len(said))
        analysis.append((process_time() - between) / len(said))
    name = f"a sentence, {_LANGUAGES[language]}"
    return Row(name, micros(min(whole)), "its analysis", micros(min(analysis)), min(whole) / min(analysis))
