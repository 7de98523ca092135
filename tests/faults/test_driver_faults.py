"""Every call to the driver in a turn is made to fail once: the turn is wholly there, or wholly absent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from gieok.errors import StepFailed, StoreUnavailable
from tests.crash.checker import half_written
from tests.crash.place import Saved
from tests.crash.tables import read_tables
from tests.crash.writer import take_turn
from tests.faults.conftest import Fragile
from tests.faults.injector import POSTGRES_FAULTS, SQLITE_FAULTS, Fault


@pytest.mark.req("ENG-6", "TURN-9")
@pytest.mark.parametrize("fault", SQLITE_FAULTS, ids=str)
@pytest.mark.parametrize("new_place", ["sqlite"], indirect=True)
@pytest.mark.parametrize("newcomer", [True, False], ids=["first turn", "later turn"])
async def test_a_turn_with_a_failing_sqlite_call_is_all_or_nothing(
    fragile: Fragile, fault: Fault, newcomer: bool
) -> None:
    await fail_each_call(fragile, fault, newcomer)


@pytest.mark.req("ENG-6", "TURN-9")
@pytest.mark.parametrize("fault", POSTGRES_FAULTS, ids=str)
@pytest.mark.parametrize("new_place", ["postgres"], indirect=True)
@pytest.mark.parametrize("newcomer", [True, False], ids=["first turn", "later turn"])
async def test_a_turn_with_a_failing_postgres_call_is_all_or_nothing(
    fragile: Fragile, fault: Fault, newcomer: bool
) -> None:
    await fail_each_call(fragile, fault, newcomer)


@pytest.mark.req("ENG-6", "TURN-9")
@pytest.mark.parametrize("fault", [SQLITE_FAULTS[1], SQLITE_FAULTS[2]], ids=str)
@pytest.mark.parametrize("new_place", ["sqlite"], indirect=True)
async def test_turns_that_share_a_commit_with_a_failing_call_are_all_or_nothing(
    fragile: Fragile, fault: Fault
) -> None:
    """A turn is stored exactly if it was answered."""
    await fail_each_call(fragile, fault, newcomer=False, together=2)


async def fail_each_call(fragile: Fragile, fault: Fault, newcomer: bool, together: int = 1) -> None:
    """Each turn is of an owner of its own, all on the same open Gieok: what breaks once is noticed later."""
    at, calls = 0, 0
    while at <= calls:
        owners = [f"owner-{at}-{number}" for number in range(together)]
        if not newcomer:
            await take_turns(fragile, owners, "before")
        fragile.faults.watch(at, fault)  # at 0 nothing fails, and the calls are counted
        outcomes = await take_turns(fragile, owners, "during")
        happened = fragile.faults.calls
        fragile.faults.watch()
        unknown = fault.after and happened[at - 1 : at] == ["COMMIT"]
        check(fragile, dict(zip(owners, outcomes, strict=True)), before=not newcomer, unknown=unknown)
        assert all(isinstance(after, Saved) for after in await take_turns(fragile, owners, "after"))
        calls = calls or len(happened)
        at += 1
    assert calls > 10


async def take_turns(fragile: Fragile, owners: list[str], word: str) -> list[Saved | BaseException]:
    turns = (take_turn(fragile.gieok.user(owner), owner, "session", word) for owner in owners)
    return await asyncio.gather(*turns, return_exceptions=True)


def check(
    fragile: Fragile, outcomes: Mapping[str, Saved | BaseException], *, before: int, unknown: bool
) -> None:
    """A turn is wholly there if it was answered, and wholly absent if not.

    Only a commit that failed after it took effect leaves it open which; then the store says that it failed.
    """
    tables = read_tables(fragile.place).of(outcomes)
    assert list(half_written(tables, fragile.gieok.vault)) == []
    for owner, outcome in outcomes.items():
        there = sum(row.owner == owner for row in tables.memories) - before
        if isinstance(outcome, Saved):
            assert there == 1
        else:
            assert isinstance(outcome, StoreUnavailable | StepFailed | MemoryError), repr(outcome)
            assert there == 0 or (unknown and isinstance(outcome, StoreUnavailable))
