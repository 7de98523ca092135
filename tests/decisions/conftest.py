"""Fixtures and sample decisions for the tests of decision memory, and the texts of a loaded context."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gieok import Gieok
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.app.decisions import Decisions
from gieok.engine import ExecutionPlan, make_plan
from gieok.memory.decisions.loading.layers import DecisionItem, EvidenceItem, LoadedContext, PolicyItem
from gieok.memory.decisions.records import Decision, DecisionProposal, Strength
from gieok.plans import read_plan


@pytest.fixture
def decisions(gieok: Gieok) -> Decisions:
    return gieok.user("minsu").decisions


class QueryLog:
    """The named read queries that ran, in order, with the number of rows that each returned."""

    def __init__(self) -> None:
        self.queries: list[tuple[str, int]] = []

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.queries}

    def rows(self, name: str) -> int:
        return sum(rows for query, rows in self.queries if query == name)

    def count(self, name: str) -> int:
        return sum(query == name for query, _ in self.queries)


@pytest.fixture
def query_log(monkeypatch: pytest.MonkeyPatch) -> QueryLog:
    """Records every read query."""
    log = QueryLog()
    read_all, read_one = Tx.all, Tx.one

    def logged_all(tx: Tx, query: str, /, **params: Any) -> list[Row]:
        rows = read_all(tx, query, **params)
        log.queries.append((query, len(rows)))
        return rows

    def logged_one(tx: Tx, query: str, /, **params: Any) -> Row | None:
        row = read_one(tx, query, **params)
        log.queries.append((query, int(row is not None)))
        return row

    monkeypatch.setattr(Tx, "all", logged_all)
    monkeypatch.setattr(Tx, "one", logged_one)
    return log


def plan_with(**metadata: Any) -> ExecutionPlan:
    """The shipped `load_decisions` plan with other metadata."""
    document = json.loads(read_plan("load_decisions"))
    document["steps"][0]["metadata"].update(metadata)
    return make_plan(document)


async def save(
    decisions: Decisions, statement: str, strength: Strength, domain: str | None = None, **more: Any
) -> Decision:
    """Save a decision in a domain, or a global one."""
    scope = "domain" if domain else "global"
    return await decisions.save(
        DecisionProposal(statement=statement, strength=strength, scope=scope, domain=domain, **more)
    )


async def save_each_strength(decisions: Decisions, *domains: str) -> None:
    """Save one decision of each strength, weakest first, globally and in each domain."""
    strengths: tuple[Strength, ...] = ("normal", "lock", "axis")
    for strength in strengths:
        await save(decisions, f"global {strength}", strength)
        for domain in domains:
            await save(decisions, f"{domain} {strength}", strength, domain)


def texts_of(context: LoadedContext) -> list[list[str]]:
    """The text of each item, by layer."""
    return [[_text(item) for item in layer.items] for layer in context.layers]


def _text(item: Any) -> str:
    if isinstance(item, PolicyItem | DecisionItem):
        return item.statement
    if isinstance(item, EvidenceItem):
        return item.title
    return f"{'reaches' if item.is_affected else 'rests on'} {item.root_id}"
