"""Facts by rules: how many of those found are right, how many of those stated are found, and what it costs.

The table is the blind one in `tests/models/facts/sentences.toml`. Rules were tuned on one half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

from bench.table import Row, Table, at_least, micros
from gieok.adapters.models.offline import OfflineModel
from gieok.adapters.models.offline.analysis import read
from gieok.memory.canon.records import Category
from tests.models.facts.score import BLIND, Score, Sentence, score, sentences

_PRECISION, _RECALL = 0.9, 0.6
_LANGUAGES = {"ko": "Korean", "en": "English"}


async def run(*, short: bool) -> Sequence[Table]:
    """Each half by language and by category, the whole table with its goals, and what a sentence costs."""
    table, model = sentences(*BLIND), OfflineModel()
    halves = [
        Table(f"Facts, {half} half", await _half(model, [each for each in table if each.group == half]))
        for half in BLIND
    ]
    made = await score(model, table)
    whole = [
        *_pair("all", made, goals=True),
        *[await _cost(model, table, language, rounds=2 if short else 20) for language in _LANGUAGES],
    ]
    return [*halves, Table(f"Facts, all {len(table)} sentences", whole)]


async def _half(model: OfflineModel, table: Sequence[Sentence]) -> list[Row]:
    rows: list[Row] = []
    for language, name in _LANGUAGES.items():
        rows += _pair(name, await score(model, [each for each in table if each.language == language]))
    made = await score(model, table)
    for category in Category:
        if made.right[category] + made.missed[category] + made.wrong[category]:
            rows += _pair(category.value, made, category)
    return rows


def _pair(name: str, made: Score, *of: Category, goals: bool = False) -> list[Row]:
    figures = (
        ("precision", made.precision(*of), _PRECISION),
        ("recall", made.recall(*of), _RECALL),
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


async def _cost(model: OfflineModel, table: Sequence[Sentence], language: str, rounds: int) -> Row:
    """Processor time, the least of the rounds, since other programs only add to it."""
    said = [each.said for each in table if each.language == language]
    whole, analysis = list[float](), list[float]()
    for _ in range(rounds):
        began = process_time()
        for text in said:
            await model.extract_facts(text, "", ())
        between = process_time()
        for text in said:
            read(text)
        whole.append((between - began) / len(said))
        analysis.append((process_time() - between) / len(said))
    name = f"a sentence, {_LANGUAGES[language]}"
    return Row(name, micros(min(whole)), "its analysis", micros(min(analysis)), min(whole) / min(analysis))
