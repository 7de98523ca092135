"""The steps that turn what a model understood of exchanges into changes of the facts.

ListFacts (the known facts that matter, with short ids) ▸ SummarizeMemory (of turn memory: the model call) ▸
GroundFacts (what was said and meant) ▸ MergeFacts (how it changes the facts) ▸ SaveFacts ▸ KeepRemembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Protocol
from uuid import UUID

from pydantic import Field

from gieok.engine import ActStep, AnyStep, Data, Stage, StepContext, WriteStep, analyse
from gieok.memory.canon import merging
from gieok.memory.canon.grounding import ground
from gieok.memory.canon.merging import merge, short_ids
from gieok.memory.canon.records import Fact, FactChange, FactSource, PersonaPrompt, PlannedChange, TakenBack
from gieok.memory.canon.retraction import facts_taken_back
from gieok.memory.canon.rules import relevant_facts
from gieok.memory.canon.validity import ValidityDays
from gieok.memory.fields import SessionRef
from gieok.memory.jobs.records import Job
from gieok.memory.observations import (
    Exchange,
    ListedFact,
    Observation,
    Refusal,
    Speaker,
    SpokenMessage,
)
from gieok.memory.profile import Timezone, day_of
from gieok.text.modality import Commitment

MAX_LISTED = 1_000


class ListMetadata(Data):
    top_k: Annotated[int, Field(ge=0, le=MAX_LISTED)]


class ListInputs(Data):
    known: tuple[Fact, ...]
    query: str


class ListedFacts(Data):
    facts: tuple[ListedFact, ...]
    ids: Mapping[str, UUID]
    """Short id → the chain of the fact."""


class ListFacts(ActStep[ListMetadata, ListInputs, ListedFacts]):
    """Choose the facts for the model: those that share words with the query, then the most important.

    However many facts are known, the prompt stays as short.
    """

    type = "ListFacts"
    stages = frozenset({Stage.CONTEXT_SELECT, Stage.POST_PROCESS})

    async def run(self, metadata: ListMetadata, inputs: ListInputs, context: StepContext) -> ListedFacts:
        choose = partial(relevant_facts, inputs.known, inputs.query, metadata.top_k)
        chosen = await analyse(inputs.query, choose)
        ids = short_ids(chosen)
        listed = tuple(
            ListedFact(
                id=short_id,
                subject=fact.subject,
                category=fact.category,
                key=fact.key,
                value=fact.value,
                when=fact.when,
                until=fact.until,
            )
            for short_id, fact in zip(ids, chosen, strict=True)
        )
        context.note("facts", len(listed))
        return ListedFacts(facts=listed, ids=ids)


class GroundMetadata(Data):
    from_reply: tuple[Commitment, ...]
    """What the character's own words may conclude; empty for nothing."""
    max_facts: Annotated[int, Field(ge=0, le=1_000)]


class GroundInputs(Data):
    observations: tuple[Observation, ...]
    malformed: tuple[Refusal, ...] = ()
    exchanges: tuple[Exchange, ...]
    before: tuple[SpokenMessage, ...]
    known: tuple[ListedFact, ...]
    persona: PersonaPrompt | None = None


class Grounded(Data):
    observations: tuple[Observation, ...]
    dropped: tuple[Refusal, ...]


class GroundFacts(ActStep[GroundMetadata, GroundInputs, Grounded]):
    """Keep the observations that were said and meant. Each refusal has one reason."""

    type = "GroundFacts"
    stages = frozenset({Stage.POST_PROCESS})

    async def run(self, metadata: GroundMetadata, inputs: GroundInputs, context: StepContext) -> Grounded:
        persona = inputs.persona.system_prompt.splitlines() if inputs.persona else []
        kept, refusals = ground(
            inputs.observations,
            [message for exchange in inputs.exchanges for message in _two_sides(exchange)],
            before=inputs.before,
            known={fact.id: fact for fact in inputs.known},
            prompt_texts=[line for line in persona if line.strip()],
            from_reply=metadata.from_reply,
        )
        by_importance = sorted(range(len(kept)), key=lambda index: (-kept[index].importance, index))
        chosen = sorted(by_importance[: metadata.max_facts])
        dropped = (*inputs.malformed, *refusals)
        context.note("facts", len(chosen))
        for reason in {refusal.reason for refusal in dropped}:
            count = sum(refusal.reason is reason for refusal in dropped)
            context.note(f"dropped.{reason.replace(' ', '_')}", count)
        return Grounded(observations=tuple(kept[index] for index in chosen), dropped=dropped)


def _two_sides(exchange: Exchange) -> tuple[SpokenMessage, ...]:
    """One message of each side, so that the number of a user's message is that of its exchange."""
    sides: tuple[Speaker, ...] = ("user", "assistant")
    at = exchange.messages[-1].at
    return tuple(SpokenMessage(role=role, text=exchange.text(role), at=at) for role in sides)


class MergeMetadata(Data):
    days: ValidityDays


class MergeInputs(Data):
    session_ref: SessionRef
    known: tuple[Fact, ...]
    ids: Mapping[str, UUID]
    observations: tuple[Observation, ...]
    exchanges: tuple[Exchange, ...]
    before: tuple[SpokenMessage, ...] = ()
    """The messages before the exchanges, of which the first exchange may take back the last."""
    timezone: Timezone = "UTC"
    """Whose days are meant."""


class Merged(Data):
    changes: tuple[PlannedChange, ...]
    taken_back: TakenBack | None


class MergeFacts(ActStep[MergeMetadata, MergeInputs, Merged]):
    """Decide how the observations change the facts: one fact per thing, current for its time.

    A joke or a slip that the user owns up to takes back what was learned of the exchange before.
    """

    type = "MergeFacts"
    stages = frozenset({Stage.POST_PROCESS})
    input_sources = {"observations": frozenset({"GroundFacts"})}  # noqa: RUF012

    async def run(self, metadata: MergeMetadata, inputs: MergeInputs, context: StepContext) -> Merged:
        said = [_said(inputs.session_ref, exchange, inputs.timezone) for exchange in inputs.exchanges]
        changes = merge(inputs.known, inputs.observations, said, ids=inputs.ids, days=metadata.days)
        changed = {change.root_id for change in changes if change.root_id and change.outcome != "unchanged"}
        answer = inputs.exchanges[0].text("user")
        back = facts_taken_back(inputs.known, inputs.before, answer, inputs.session_ref, changed)
        return Merged(changes=changes, taken_back=back)


def _said(session_ref: str, exchange: Exchange, timezone: str) -> merging.Exchange:
    def source(role: Speaker) -> FactSource | None:
        ids = [message.id for message in exchange.messages if message.role == role and message.id]
        return FactSource(session_ref=session_ref, message_id=ids[-1]) if ids else None

    day = day_of(exchange.messages[-1].at, timezone)
    return merging.Exchange(day=day, user=source("user"), assistant=source("assistant"))


class Remembered(Data):
    """What a job changed, and what it refused."""

    changes: tuple[FactChange, ...]
    dropped: tuple[Refusal, ...]


class RememberedStore(Protocol):
    """The results of remember jobs, sealed, by the id of the job."""

    def save(self, job_id: UUID, remembered: Remembered, at: datetime) -> None:
        """Save the result of a job."""
        ...

    def get(self, job_id: UUID) -> Remembered | None:
        """The result of a job; None if there is none, or it was deleted."""
        ...

    def delete(self, job_ids: Sequence[UUID]) -> int:
        """Delete the results of these jobs. Returns how many."""
        ...

    def delete_before(self, before: datetime) -> int:
        """Delete old results. Returns how many."""
        ...


class RememberedView(Protocol):
    """A transaction's view with the results of remember jobs."""

    @property
    def remembered(self) -> RememberedStore: ...


class KeepMetadata(Data):
    keep_days: Annotated[int, Field(ge=1, le=3_650)]


class KeepInputs(Data):
    job: Job
    changes: tuple[FactChange, ...] = ()
    dropped: tuple[Refusal, ...] = ()


class KeepRemembered(WriteStep[KeepMetadata, KeepInputs, None]):
    """Keep what a job changed and refused for `keepDays`, sealed."""

    type = "KeepRemembered"

    def apply(
        self, view: RememberedView, metadata: KeepMetadata, inputs: KeepInputs, context: StepContext
    ) -> None:
        view.remembered.delete_before(context.now - timedelta(days=metadata.keep_days))
        remembered = Remembered(changes=inputs.changes, dropped=inputs.dropped)
        view.remembered.save(inputs.job.id, remembered, context.now)


STEPS: tuple[type[AnyStep], ...] = (ListFacts, GroundFacts, MergeFacts, KeepRemembered)
