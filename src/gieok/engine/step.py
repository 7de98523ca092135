"""Steps: the units that a plan is made of. A step is a read, an act or a write.

* A `ReadStep` reads the stores. All reads of a stage share one read transaction.
* An `ActStep` is async. It calls something outside (a model, an embedder), or only computes.
* A `WriteStep` changes the stores. It runs after every other step has succeeded, in one transaction with all
  other writes of the plan, in plan order.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar, get_args

from gieok.engine.data import Data
from gieok.engine.plan import ORDER, Stage
from gieok.engine.record import Note, check_note

M = TypeVar("M", bound=Data)
I = TypeVar("I", bound=Data)  # noqa: E741  metadata, inputs, output: M, I, O
O = TypeVar("O", bound=Data | None)  # noqa: E741
T = TypeVar("T")

LONG_TEXT = 400
"""Characters from which analysing a text takes too long for the event loop's thread."""


def is_long(text: str) -> bool:
    """Whether work on this text belongs on another thread."""
    return len(text) > LONG_TEXT


async def analyse(text: str, work: Callable[[], T]) -> T:
    """Run `work`, which analyses `text`: on another thread if it is long."""
    return await asyncio.to_thread(work) if is_long(text) else work()


class NoData(Data):
    """For a step without metadata, inputs or output."""


@dataclass(frozen=True)
class StepEvent:
    """An event of a running step, such as a piece of a reply. It is never stored."""

    step: str
    kind: str
    data: str


class StepContext:
    """The cycle as a running step sees it: plan hash, time, events and notes."""

    def __init__(
        self, step: str, plan_hash: str, now: datetime, listen: Callable[[StepEvent], None] | None
    ) -> None:
        self.plan_hash = plan_hash
        """The hash of the running plan."""
        self.now = now
        """One time for the whole cycle."""
        self.notes: dict[str, Note] = {}
        self._step = step
        self._listen = listen

    def emit(self, kind: str, data: str) -> None:
        """Send an event to the listener of this cycle, if there is one."""
        if self._listen is not None:
            self._listen(StepEvent(self._step, kind, data))

    def note(self, name: str, value: Note) -> None:
        """Add a count or identifiers to the cycle record. Content is refused."""
        self.notes[name] = check_note(name, value)


class Step(ABC, Generic[M, I, O]):
    """The base of the three kinds: a type, the stages that the step may stand in, and three models.

    The models are the arguments of the base: `class Shout(ActStep[Metadata, Inputs, Output])`. Policy lives
    in the metadata model, which gives no defaults: a plan states its policy or is refused.

    A step is made once and serves every cycle, so it keeps no state of a run. `services` is what the
    application offers to its steps, such as a model; most steps need nothing of it.
    """

    type: ClassVar[str]
    stages: ClassVar[frozenset[Stage]]
    metadata_model: ClassVar[type[Data]]
    inputs_model: ClassVar[type[Data]]
    output_model: ClassVar[type[Data]]
    input_sources: ClassVar[Mapping[str, frozenset[str]]] = {}
    """Input field → the step types that may feed it, `request` included. Any step may feed other inputs."""

    def __init__(self, services: Any = None) -> None:
        """Take what the step needs from `services`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__dict__.get("__orig_bases__", ()):
            models = [NoData if model is type(None) else model for model in get_args(base)]
            if len(models) == 3 and all(isinstance(model, type) for model in models):
                cls.metadata_model, cls.inputs_model, cls.output_model = models


@dataclass(frozen=True)
class Ask(Generic[O]):
    """Returned by a read that needs an answer from outside before it can finish.

    The engine ends the read transaction, awaits `question()`, and finishes the step with
    `resume(view, answer)` in the next read transaction of the stage.
    """

    question: Callable[[], Awaitable[Any]]
    resume: Callable[[Any, Any], O]


class ReadStep(Step[M, I, O]):
    """Reads the stores inside the read transaction of its stage. Other reads there may use its output."""

    heavy: ClassVar[bool] = False
    """Whether it may take long and must not run on the event loop's thread."""

    @abstractmethod
    def read(self, view: Any, metadata: M, inputs: I, context: StepContext) -> O | Ask[O]:
        """Return the output, or an `Ask`. Raising fails the whole cycle."""


class ActStep(Step[M, I, O]):
    """Calls something outside, or only computes. No transaction is open while it runs."""

    @abstractmethod
    async def run(self, metadata: M, inputs: I, context: StepContext) -> O:
        """Return the output. Raising fails the whole cycle, and nothing of it is stored."""


class WriteStep(Step[M, I, O]):
    """Changes the stores inside the one write transaction of the cycle.

    Its output exists once that transaction is committed; until then only later writes can read it.
    """

    stages = frozenset({Stage.PERSIST})

    @abstractmethod
    def apply(self, view: Any, metadata: M, inputs: I, context: StepContext) -> O:
        """Make the change and return the output. Raising rolls back every write of the cycle."""


AnyStep = Step[Any, Any, Any]
Outputs = Mapping[str, Data]


def check_step(step: AnyStep) -> None:
    """Raise ValueError for a step of none of the three kinds, with a stage that its kind must not use, or
    with sources of an unknown input.
    """
    if not isinstance(step, ReadStep | ActStep | WriteStep):
        raise ValueError(f"step '{step.type}' must be a ReadStep, an ActStep or a WriteStep")  # noqa: TRY004
    writes = isinstance(step, WriteStep)
    wrong = [stage for stage in ORDER if stage in step.stages and (stage is Stage.PERSIST) != writes]
    if unknown := set(step.input_sources) - set(step.inputs_model.model_fields):
        raise ValueError(f"step '{step.type}' names sources of an input that it lacks: {min(unknown)}")
    if wrong:
        kind = "a write" if writes else "a read or an act"
        raise ValueError(f"step '{step.type}' is {kind}, so it may not stand in {wrong[0]}")
