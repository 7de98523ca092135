"""Random plans with random failures, against a simple model: a cycle is atomic."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.engine import (
    ORDER,
    ActStep,
    Ask,
    Data,
    Engine,
    NoData,
    ReadStep,
    Registry,
    Stage,
    StepContext,
    WriteStep,
)
from gieok.errors import StepFailed
from tests.engine.steps import MemoryScope, plan


class Behaviour(Data):
    yields: int
    fails: bool
    writes: int


class Numbers(Data):
    a: int = 0
    b: int = 0


class Number(Data):
    value: int


def _result(metadata: Behaviour, inputs: Numbers) -> Number:
    if metadata.fails:
        raise RuntimeError
    return Number(value=inputs.a + inputs.b + 1)


BEFORE_PERSIST = frozenset(Stage) - {Stage.PERSIST}


class Act(ActStep[Behaviour, Numbers, Number]):
    """Waits and fails as its metadata says."""

    type = "Act"
    stages = BEFORE_PERSIST

    async def run(self, metadata: Behaviour, inputs: Numbers, context: StepContext) -> Number:
        for _ in range(metadata.yields):
            await asyncio.sleep(0)
        return _result(metadata, inputs)


class Read(ReadStep[Behaviour, Numbers, Number]):
    """Asks outside where its metadata has it wait."""

    type = "Read"
    stages = BEFORE_PERSIST

    def read(
        self, view: Any, metadata: Behaviour, inputs: Numbers, context: StepContext
    ) -> Number | Ask[Number]:
        if not metadata.yields:
            return _result(metadata, inputs)
        return Ask(question=lambda: asyncio.sleep(0), resume=lambda _view, _answer: _result(metadata, inputs))


class Write(WriteStep[Behaviour, Numbers, Number]):
    """Writes as often as its metadata says."""

    type = "Write"

    def apply(self, view: list[str], metadata: Behaviour, inputs: Numbers, context: StepContext) -> Number:
        view += [f"{inputs.a + inputs.b}:{number}" for number in range(metadata.writes)]
        return _result(metadata, inputs)


def registry() -> Registry:
    return Registry([Act(), Read(), Write()])


@st.composite
def plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    count = draw(st.integers(1, 9))
    stages = sorted(draw(st.lists(st.sampled_from(ORDER), min_size=count, max_size=count)), key=ORDER.index)
    steps: list[dict[str, Any]] = []
    for number, stage in enumerate(stages):
        origins = draw(st.lists(st.integers(0, number - 1), max_size=2)) if number else []
        kind = "Write" if stage is Stage.PERSIST else draw(st.sampled_from(["Act", "Read"]))
        inputs = {name: f"s{origin}.value" for name, origin in zip("ab", origins, strict=False)}
        metadata = {
            "yields": draw(st.integers(0, 3)),
            "fails": draw(st.sampled_from([False] * 9 + [True])),
            "writes": draw(st.integers(0, 3)) if stage is Stage.PERSIST else 0,
        }
        steps.append(
            {"id": f"s{number}", "type": kind, "stage": stage.value, "inputs": inputs, "metadata": metadata}
        )
    return steps


def expected_writes(steps: list[dict[str, Any]]) -> list[str]:
    values: dict[str, int] = {}
    written: list[str] = []
    for step in steps:
        total = sum(values[source.removesuffix(".value")] for source in step["inputs"].values())
        written += [f"{total}:{number}" for number in range(step["metadata"]["writes"])]
        values[step["id"]] = total + 1
    return written


@pytest.mark.req("ENG-6", "ENG-4", "ENG-7")
@given(plans(), st.booleans())
async def test_a_cycle_is_stored_whole_or_not_at_all(steps: list[dict[str, Any]], commit_fails: bool) -> None:
    scope = MemoryScope()
    scope.stored = ["before"]
    scope.fail_commit = OSError("disk") if commit_fails else None
    offered = registry()
    failing = {step["id"] for step in steps if step["metadata"]["fails"]}
    writes = expected_writes(steps)
    run = Engine(offered).run(offered.check(plan(*steps)), scope, {})
    if failing:
        with pytest.raises(StepFailed) as failed:
            await run
        assert failed.value.step in failing
        assert scope.stored == ["before"]
    elif commit_fails and any(step["type"] == "Write" for step in steps):
        with pytest.raises(OSError, match="disk"):
            await run
        assert scope.stored == ["before"]
    else:
        result = await run
        assert sorted(scope.stored) == sorted(["before", *writes])
        assert len(result.record.steps) == len(steps)


@pytest.mark.req("ENG-6")
@given(plans(), st.integers(0, 30))
async def test_cancelling_at_any_moment_stores_nothing_or_all(
    steps: list[dict[str, Any]], ticks: int
) -> None:
    for step in steps:
        step["metadata"]["fails"] = False
    scope = MemoryScope()
    offered = registry()
    task = asyncio.create_task(Engine(offered).run(offered.check(plan(*steps)), scope, {}))
    for _ in range(ticks):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
        finished = True
    except asyncio.CancelledError:
        finished = False
    assert sorted(scope.stored) == (sorted(expected_writes(steps)) if finished else [])


def test_no_metadata_means_no_data() -> None:
    assert NoData.model_validate({}) == NoData()
