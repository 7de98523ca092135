"""A step: the only thing that happens at run time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar, get_args

from gieok.engine.data import Data
from gieok.engine.record import Note, check_note
from gieok.engine.stages import Stage
from gieok.engine.unit_of_work import UnitOfWork, Write

M = TypeVar("M", bound=Data)
I = TypeVar("I", bound=Data)  # noqa: E741  metadata, inputs, output: M, I, O
O = TypeVar("O", bound=Data)  # noqa: E741


class NoData(Data):
    """For a step that has no metadata, reads nothing, or returns nothing."""


@dataclass(frozen=True)
class StepEvent:
    """Something a step tells while it runs, such as a piece of a reply. It is never stored."""

    step: str
    kind: str
    data: str


class StepContext:
    """What a running step may do besides returning its output."""

    def __init__(
        self,
        step: str,
        stage: Stage,
        plan_hash: str,
        now: datetime,
        unit_of_work: UnitOfWork,
        listen: Callable[[StepEvent], None] | None,
    ) -> None:
        self.plan_hash = plan_hash
        """The identity of the plan that is running."""
        self.now = now
        """One time for the whole cycle."""
        self.notes: dict[str, Note] = {}
        self._step = step
        self._stage = stage
        self._unit_of_work = unit_of_work
        self._listen = listen

    def stage_write(self, write: Write) -> None:
        """Keep a write until the cycle has succeeded. Only a step in the stage Persist may."""
        if self._stage is not Stage.PERSIST:
            raise PermissionError(f"a step in {self._stage} may not write; put it in {Stage.PERSIST}")
        self._unit_of_work.stage(self._step, write)

    def emit(self, kind: str, data: str) -> None:
        """Tell whoever listens to this cycle. Without a listener it costs nothing."""
        if self._listen is not None:
            self._listen(StepEvent(self._step, kind, data))

    def note(self, name: str, value: Note) -> None:
        """Leave a count or identifiers in the cycle record."""
        self.notes[name] = check_note(name, value)


class Step(ABC, Generic[M, I, O]):
    """Declares its type, the stages it may stand in, and the three models that it speaks.

    The models are the arguments of the base: `class Shout(Step[Metadata, Inputs, Output])`. Policy lives in
    the metadata model, which gives no defaults: a plan states its policy or is refused.
    """

    type: ClassVar[str]
    stages: ClassVar[frozenset[Stage]]
    metadata_model: ClassVar[type[Data]]
    inputs_model: ClassVar[type[Data]]
    output_model: ClassVar[type[Data]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__dict__.get("__orig_bases__", ()):
            models = get_args(base)
            if len(models) == 3 and all(isinstance(model, type) for model in models):
                cls.metadata_model, cls.inputs_model, cls.output_model = models

    @abstractmethod
    async def run(self, metadata: M, inputs: I, context: StepContext) -> O:
        """Do the step's work. Raising fails the whole cycle, and nothing of it is stored.

        It is an `async def`: what it returns is awaited once, and not as a task of its own.
        """

    def largest_output(self, metadata: M, inputs: I) -> int | None:
        """The most bytes of JSON that its output can have when it is asked this; None where nobody can tell.

        An output that cannot be over the limit is not measured.
        """
        return None


AnyStep = Step[Any, Any, Any]
Outputs = Mapping[str, Data]
