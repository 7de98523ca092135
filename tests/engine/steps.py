"""Small steps for the tests of the engine: they count, fail, wait and write on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from gieok.engine import Data, ExecutionPlan, NoData, Registry, Stage, Step, StepContext, Write, make_plan


class MemoryScope:
    """A scope whose commit is a list: all of a cycle's writes appear in it at once, or none."""

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.fail_commit: Exception | None = None
        self.ran: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def commit(self, writes: Sequence[Write]) -> list[Any]:
        copy = list(self.stored)
        results = [write(copy) for write in writes]
        if self.fail_commit:
            raise self.fail_commit
        self.stored = copy
        return results


class Policy(Data):
    text: str


class Texts(Data):
    first: str = ""
    second: str = ""


class Said(Data):
    text: str
    length: int


class Say(Step[Policy, Texts, Said]):
    """Joins its inputs and its policy; may stand anywhere."""

    type = "Say"
    stages = frozenset(Stage)

    def __init__(self, scope: MemoryScope) -> None:
        self.scope = scope

    async def run(self, metadata: Policy, inputs: Texts, context: StepContext) -> Said:
        self.scope.ran.append(metadata.text)
        await asyncio.sleep(0)
        text = inputs.first + inputs.second + metadata.text
        return Said(text=text, length=len(text))


class Keep(Step[NoData, Texts, NoData]):
    """Stages one write and returns how many lie in the store then."""

    type = "Keep"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: Texts, context: StepContext) -> NoData:
        def write(stored: list[str]) -> int:
            stored.append(inputs.first)
            return len(stored)

        context.stage_write(write)
        return NoData()


class Break(Step[NoData, Texts, Said]):
    """Fails with the error that the test gives it."""

    type = "Break"
    stages = frozenset(Stage)

    def __init__(self, error: BaseException) -> None:
        self.error = error

    async def run(self, metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        raise self.error


class Call(Step[NoData, Texts, Said]):
    """Runs what the test gives it, with the context in hand."""

    type = "Call"
    stages = frozenset(Stage)

    def __init__(self, work: Callable[[StepContext], Any]) -> None:
        self.work = work

    async def run(self, metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        result = self.work(context)
        return await result if asyncio.iscoroutine(result) else result


def registry(
    error: BaseException | None = None, work: Callable[[StepContext], Any] | None = None
) -> Registry[MemoryScope]:
    made = Registry[MemoryScope]()
    made.register(Say, Say)
    made.register(Keep, lambda _: Keep())
    made.register(Break, lambda _: Break(error or RuntimeError("broken")))
    made.register(Call, lambda _: Call(work or (lambda _: Said(text="", length=0))))
    return made


def plan(*steps: dict[str, Any], request: Sequence[str] = ()) -> ExecutionPlan:
    return make_plan({"name": "test", "version": 1, "request": list(request), "steps": list(steps)})


def say(step_id: str, text: str = "x", stage: Stage = Stage.CONTEXT_SELECT, **inputs: str) -> dict[str, Any]:
    return {"id": step_id, "type": "Say", "stage": stage.value, "inputs": inputs, "metadata": {"text": text}}


def keep(step_id: str, **inputs: str) -> dict[str, Any]:
    return {"id": step_id, "type": "Keep", "stage": "Persist", "inputs": inputs, "metadata": {}}


def step(step_id: str, kind: str, stage: Stage = Stage.POST_PROCESS, **inputs: str) -> dict[str, Any]:
    return {"id": step_id, "type": kind, "stage": stage.value, "inputs": inputs, "metadata": {}}
