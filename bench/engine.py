"""The overhead of the engine: a plan of six steps that do nothing, compared with six bare awaits."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

from bench.table import Row, Table, at_most, micros
from bench.timing import interleaved
from gieok.engine import ActStep, Data, Engine, NoData, Registry, Stage, StepContext, WriteStep, make_plan

T = TypeVar("T")

_STAGES = (
    Stage.CONTEXT_SELECT,
    Stage.CONTEXT_SELECT,
    Stage.PROMPT_ASSEMBLE,
    Stage.LLM_CALL,
    Stage.POST_PROCESS,
    Stage.PERSIST,
)


class Text(Data):
    text: str


class Pass(ActStep[NoData, Text, Text]):
    """Returns its input."""

    type = "Pass"
    stages = frozenset(Stage) - {Stage.PERSIST}

    async def run(self, metadata: NoData, inputs: Text, context: StepContext) -> Text:
        return inputs


class PassWrite(WriteStep[NoData, Text, Text]):
    """Returns its input in the write stage."""

    type = "PassWrite"

    def apply(self, view: None, metadata: NoData, inputs: Text, context: StepContext) -> Text:
        return inputs


class NoStore:
    """A scope without a store."""

    async def read(self, work: Callable[[Any], T], *, heavy: bool = False) -> T:
        return work(None)

    async def write(self, work: Callable[[Any], T]) -> T:
        return work(None)


async def run(*, short: bool) -> list[Table]:
    rounds, cycles = (5, 20) if short else (40, 200)
    registry = Registry([Pass(), PassWrite()])
    engine = Engine(registry)
    plan = registry.check(make_plan(_six_steps()))
    scope, request = NoStore(), {"text": "안녕"}

    async def through_the_engine() -> float:
        started = perf_counter()
        for _ in range(cycles):
            await engine.run(plan, scope, request)
        return (perf_counter() - started) / cycles

    async def bare() -> float:
        started = perf_counter()
        for _ in range(cycles):
            text = "안녕"
            for _ in range(6):
                text = await _pass(text)
        return (perf_counter() - started) / cycles

    timings = await interleaved(rounds, {"engine": through_the_engine, "bare": bare})
    row = Row(
        "a cycle of six steps without I/O",
        micros(timings.of("engine")),
        "six bare awaits",
        f"{timings.of('bare') * 1e6:.1f} µs",
        timings.ratio("engine", "bare"),
        at_most(timings.of("engine") * 1e6, 300, " µs"),
    )
    return [Table("The engine", [row])]


async def _pass(text: str) -> str:
    return text


def _six_steps() -> dict[str, Any]:
    sources = ["request.text", *(f"step{number}.text" for number in range(5))]
    return {
        "name": "six_steps",
        "version": 1,
        "request": ["text"],
        "steps": [
            {
                "id": f"step{number}",
                "type": "PassWrite" if stage is Stage.PERSIST else "Pass",
                "stage": stage,
                "inputs": {"text": source},
                "metadata": {},
            }
            for number, (stage, source) in enumerate(zip(_STAGES, sources, strict=True))
        ],
    }
