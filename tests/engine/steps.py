"""Small steps for the tests of the engine: they count, fail, wait, read and write on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gieok.engine import (
    ActStep,
    Ask,
    Data,
    ExecutionPlan,
    NoData,
    ReadStep,
    Registry,
    Stage,
    StepContext,
    WriteStep,
    make_plan,
)

T = TypeVar("T")
BEFORE_PERSIST = frozenset(Stage) - {Stage.PERSIST}


class MemoryScope:
    """A scope over a list: all of a cycle's writes appear in it at once, or none."""

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.fail_commit: Exception | None = None
        self.fail_read: Exception | None = None
        self.ran: list[str] = []
        self.reads: list[bool] = []
        """Each read transaction: whether it was heavy."""
        self.writes = 0

    async def read(self, work: Callable[[Any], T], *, heavy: bool = False) -> T:
        if self.fail_read:
            raise self.fail_read
        self.reads.append(heavy)
        return work(tuple(self.stored))

    async def write(self, work: Callable[[Any], T]) -> T:
        self.writes += 1
        copy = list(self.stored)
        result = work(copy)
        if self.fail_commit:
            raise self.fail_commit
        self.stored = copy
        return result


@dataclass(frozen=True)
class Services:
    """What the steps below are made with."""

    scope: MemoryScope
    error: BaseException
    work: Callable[[StepContext], Any]


class Policy(Data):
    text: str


class Texts(Data):
    first: str = ""
    second: str = ""


class Said(Data):
    text: str
    length: int


class Repeat(ActStep[Policy, Texts, Said]):
    """Takes its first input only from Say or from the caller."""

    type = "Repeat"
    stages = BEFORE_PERSIST
    input_sources = {"first": frozenset({"Say", "request"})}  # noqa: RUF012

    async def run(self, metadata: Policy, inputs: Texts, context: StepContext) -> Said:
        return Said(text=inputs.first, length=len(inputs.first))


class Say(ActStep[Policy, Texts, Said]):
    """Joins its inputs and its policy."""

    type = "Say"
    stages = BEFORE_PERSIST

    def __init__(self, services: Services) -> None:
        self.scope = services.scope

    async def run(self, metadata: Policy, inputs: Texts, context: StepContext) -> Said:
        self.scope.ran.append(metadata.text)
        await asyncio.sleep(0)
        text = inputs.first + inputs.second + metadata.text
        return Said(text=text, length=len(text))


class Look(ReadStep[NoData, Texts, Said]):
    """Reads what is stored, after its first input."""

    type = "Look"
    stages = BEFORE_PERSIST

    def read(self, view: Sequence[str], metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        return Said(text="".join((inputs.first, *view)), length=len(view))


class Scan(Look):
    """The same, and it may take long."""

    type = "Scan"
    heavy = True


class Enquire(ReadStep[NoData, Texts, Said]):
    """Reads, asks outside, and reads again."""

    type = "Enquire"
    stages = BEFORE_PERSIST

    def __init__(self, services: Services) -> None:
        self.work = services.work

    def read(self, view: Sequence[str], metadata: NoData, inputs: Texts, context: StepContext) -> Ask[Said]:
        context.note("before", len(view))

        async def question() -> Said:
            result = self.work(context)
            return await result if asyncio.iscoroutine(result) else result

        def resume(view: Sequence[str], answer: Said) -> Said:
            context.note("after", len(view))
            return Said(text=inputs.first + answer.text + "".join(view), length=len(view))

        return Ask(question, resume)


class Keep(WriteStep[NoData, Texts, Said]):
    """Appends its input and returns how many are stored then."""

    type = "Keep"

    def apply(self, view: list[str], metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        view.append(inputs.first)
        return Said(text=inputs.first, length=len(view))


class Forget(WriteStep[NoData, Texts, None]):
    """Clears the store, and returns nothing."""

    type = "Forget"

    def apply(self, view: list[str], metadata: NoData, inputs: Texts, context: StepContext) -> None:
        view.clear()


class Break(ActStep[NoData, Texts, Said]):
    """Fails with the error that the test gives it."""

    type = "Break"
    stages = BEFORE_PERSIST

    def __init__(self, services: Services) -> None:
        self.error = services.error

    async def run(self, metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        raise self.error


class BreakRead(ReadStep[NoData, Texts, Said]):
    """The same for a read."""

    type = "BreakRead"
    stages = BEFORE_PERSIST

    def __init__(self, services: Services) -> None:
        self.error = services.error

    def read(self, view: Any, metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        raise self.error


class BreakWrite(WriteStep[NoData, Texts, Said]):
    """The same for a write."""

    type = "BreakWrite"

    def __init__(self, services: Services) -> None:
        self.error = services.error

    def apply(self, view: Any, metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        raise self.error


class Call(ActStep[NoData, Texts, Said]):
    """Runs what the test gives it, with the context."""

    type = "Call"
    stages = BEFORE_PERSIST

    def __init__(self, services: Services) -> None:
        self.work = services.work

    async def run(self, metadata: NoData, inputs: Texts, context: StepContext) -> Said:
        result = self.work(context)
        return await result if asyncio.iscoroutine(result) else result


STEPS = (Repeat, Say, Look, Scan, Enquire, Keep, Forget, Break, BreakRead, BreakWrite, Call)


def registry(
    scope: MemoryScope | None = None,
    error: BaseException | None = None,
    work: Callable[[StepContext], Any] | None = None,
) -> Registry:
    services = Services(
        scope or MemoryScope(),
        error or RuntimeError("broken"),
        work or (lambda _: Said(text="", length=0)),
    )
    return Registry(step(services) for step in STEPS)


def plan(*steps: dict[str, Any], request: Sequence[str] = ()) -> ExecutionPlan:
    return make_plan({"name": "test", "version": 1, "request": list(request), "steps": list(steps)})


def say(step_id: str, text: str = "x", stage: Stage = Stage.CONTEXT_SELECT, **inputs: str) -> dict[str, Any]:
    return {"id": step_id, "type": "Say", "stage": stage.value, "inputs": inputs, "metadata": {"text": text}}


def keep(step_id: str, **inputs: str) -> dict[str, Any]:
    return {"id": step_id, "type": "Keep", "stage": "Persist", "inputs": inputs, "metadata": {}}


def step(step_id: str, kind: str, stage: Stage = Stage.POST_PROCESS, **inputs: str) -> dict[str, Any]:
    return {"id": step_id, "type": kind, "stage": stage.value, "inputs": inputs, "metadata": {}}
