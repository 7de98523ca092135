"""What tests of decision memory share: the queries that ran, and one owner's decisions."""

from __future__ import annotations

from typing import Any

import pytest

from gieok import Gieok
from gieok.adapters.sql.driver.database import Row, Tx
from gieok.app.decisions import Decisions


@pytest.fixture
def decisions(gieok: Gieok) -> Decisions:
    return gieok.user("minsu").decisions


class Asked:
    """The named queries that the database was asked, in order, with how many rows each gave."""

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
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Listens to every query that reads."""
    heard = Asked()
    read_all, read_one = Tx.all, Tx.one

    def listening_all(tx: Tx, query: str, /, **params: Any) -> list[Row]:
        rows = read_all(tx, query, **params)
        heard.queries.append((query, len(rows)))
        return rows

    def listening_one(tx: Tx, query: str, /, **params: Any) -> Row | None:
        row = read_one(tx, query, **params)
        heard.queries.append((query, int(row is not None)))
        return row

    monkeypatch.setattr(Tx, "all", listening_all)
    monkeypatch.setattr(Tx, "one", listening_one)
    return heard
