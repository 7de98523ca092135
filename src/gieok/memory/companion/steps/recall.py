"""Steps that read companion memory: loading at the start of a conversation, and recall by a query."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, NamedTuple, Protocol
from uuid import NAMESPACE_OID, UUID, uuid5

from pydantic import Field

from gieok.engine import AnyStep, Ask, Data, ReadStep, Stage, StepContext
from gieok.errors import ModelUnavailable, StoreUnavailable
from gieok.memory.companion.hits import Hit, HitKind
from gieok.memory.companion.recall.policy import Degraded, RecallPolicy
from gieok.memory.companion.recall.query import (
    NearWordsServices,
    Query,
    find_speakers,
    parse_query,
    without_names,
)
from gieok.memory.companion.recall.ranking import rank_rows
from gieok.memory.companion.records import Memory
from gieok.memory.companion.rules import MAX_PAGE
from gieok.memory.companion.store import CompanionView
from gieok.memory.companion.vectors.search import Vector, VectorSearch, VectorServices, VectorView
from gieok.memory.fields import AccountPlan, PersonaId
from gieok.memory.profile import ProfileServices, ProfileView, local

_log = logging.getLogger(__name__)

CONTEXT_SELECT = frozenset({Stage.CONTEXT_SELECT})


class LoadMetadata(Data):
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)]


class LoadInputs(Data):
    persona_id: PersonaId
    wanted: bool = True
    """False where the conversation has begun already; then nothing is loaded."""


class Loaded(Data):
    memories: tuple[Memory, ...]


class LoadMemories(ReadStep[LoadMetadata, LoadInputs, Loaded]):
    """Load the active memories that a conversation begins with: by importance, then newest first."""

    type = "LoadMemories"
    stages = CONTEXT_SELECT

    def read(
        self, view: CompanionView, metadata: LoadMetadata, inputs: LoadInputs, context: StepContext
    ) -> Loaded:
        memories = tuple(view.companion.load(inputs.persona_id, metadata.limit)) if inputs.wanted else ()
        context.note("loaded", [memory.id for memory in memories])
        return Loaded(memories=memories)


class SummariesInputs(Data):
    memory_ids: tuple[UUID, ...]
    """In the order of what they summarise."""


class LoadSummaries(ReadStep[LoadMetadata, SummariesInputs, Loaded]):
    """Load the last `limit` summaries of this conversation, oldest first, archived ones too.

    A summary that was deleted is left out.
    """

    type = "LoadSummaries"
    stages = CONTEXT_SELECT

    def read(
        self, view: CompanionView, metadata: LoadMetadata, inputs: SummariesInputs, context: StepContext
    ) -> Loaded:
        found = map(view.companion.get, inputs.memory_ids[-metadata.limit :])
        memories = tuple(memory for memory in found if memory is not None)
        context.note("loaded", [memory.id for memory in memories])
        return Loaded(memories=memories)


class WindowMessage(Data, from_attributes=True):
    """A message that the prompt has already."""

    role: Literal["user", "assistant"]
    content: str


class RecallInputs(Data):
    persona_id: PersonaId
    query: str
    limit: Annotated[int, Field(ge=1)] | None = None
    """How many hits to return, at most the plan's `topK`."""
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    """Leaves out more than the plan's `minConfidence` does, never less."""
    kinds: tuple[HitKind, ...] | None = None
    """What to recall, of the plan's `kinds`; None for all of them."""
    account_plan: AccountPlan | None = None
    window: tuple[WindowMessage, ...] = ()
    """The recent messages of the conversation, which are not recalled again."""
    client_messages: tuple[WindowMessage, ...] = ()
    """The window of a client that keeps its own."""


class Recalled(Data):
    memories: Annotated[tuple[Memory, ...], Field(exclude=True)]
    """The memories among the hits. Not in JSON, where the hits contain them."""
    hits: tuple[Hit, ...]
    """Best first: memories, messages and facts, each with its score and the reasons for it."""
    degraded: tuple[Degraded, ...]
    """The parts that failed, where the plan allows it."""


class _QueryVector(NamedTuple):
    """The vector of a query, if there is one, and whether the embedder failed."""

    vector: Vector | None = None
    failed: bool = False


class _Meaning(NamedTuple):
    """What models say about a query: its vector, and terms that are near its terms."""

    vector: _QueryVector = _QueryVector()
    near: Mapping[str, Mapping[str, float]] = {}


class MessageIndexStore(Protocol):
    """The part of the message log that recall needs."""

    @property
    def is_indexed(self) -> bool:
        """Whether all messages can be found."""
        ...


class RecallView(CompanionView, VectorView, ProfileView, Protocol):
    """Memories and their vectors, the message log and the user's profile."""

    @property
    def messages(self) -> MessageIndexStore: ...


class RecallServices(VectorServices, NearWordsServices, ProfileServices, Protocol):
    """The vector search, words of similar meaning, and the timezone of users whose profile has none."""


class RecallMemories(ReadStep[RecallPolicy, RecallInputs, Recalled]):
    """Find memories, messages and facts of this user and this persona, of any session, that answer the query.

    With an embedder or words of similar meaning it reads twice, and asks for them in between.
    ModelUnavailable if the embedder does not answer, unless the plan allows a search by words alone.
    """

    type = "RecallMemories"
    stages = CONTEXT_SELECT

    def __init__(self, services: RecallServices) -> None:
        self._vector_search = services.vector_search
        self._near_words = services.near_words
        self._timezone = services.timezone

    def read(
        self, view: RecallView, metadata: RecallPolicy, inputs: RecallInputs, context: StepContext
    ) -> Recalled | Ask[Recalled]:
        if self._near_words is None and (self._vector_search is None or not metadata.weights.vectors):
            return self._search(view, metadata, inputs, context, _Meaning())
        query = self._parse(view, inputs.query, context.now)
        index = view.companion.index(inputs.persona_id, kinds=metadata.kinds, include_archived=True)
        text = without_names(inputs.query, find_speakers(index, query.words).keys())
        return Ask(
            question=lambda: self._ask(query, text, metadata),
            resume=lambda view, meaning: self._search(view, metadata, inputs, context, meaning),
        )

    async def _ask(self, query: Query, text: str, policy: RecallPolicy) -> _Meaning:
        """Ask the models. `text` is the query without the names of speakers."""
        vector, near = _QueryVector(), dict[str, Mapping[str, float]]()
        if self._vector_search is not None and policy.weights.vectors:
            vector = await _embed(self._vector_search, text, policy)
        if self._near_words is not None:
            near = await asyncio.to_thread(self._near_words.near, query.words.keys() - query.dated)
        return _Meaning(vector, near)

    def _search(
        self,
        view: RecallView,
        policy: RecallPolicy,
        inputs: RecallInputs,
        context: StepContext,
        meaning: _Meaning,
    ) -> Recalled:
        kinds = _kinds(policy, inputs)
        persona_id, include_archived = inputs.persona_id, policy.include_archived
        index = view.companion.index(persona_id, kinds=kinds, include_archived=include_archived)
        if not index.recall:
            return Recalled(memories=(), hits=(), degraded=())
        similarity = None
        if self._vector_search is not None and meaning.vector.vector is not None and kinds != ("fact",):
            similarity = self._vector_search.compare(
                view.vectors, persona_id, meaning.vector.vector, include_archived=include_archived
            )

        parsed = self._parse(view, inputs.query, context.now)._replace(near=meaning.near)
        least = max(policy.min_confidence, inputs.min_confidence or 0.0)
        policy = policy.model_copy(update={"min_confidence": least})

        window = {(message.role, message.content) for message in (*inputs.window, *inputs.client_messages)}
        count = policy.top_k if inputs.limit is None else min(policy.top_k, inputs.limit)
        least_memories = min(policy.min_memories, count) if "memory" in kinds else 0
        found = rank_rows(
            index,
            parsed,
            context.now,
            policy,
            similarity,
            count=count + len(window),
            memories=least_memories,
        )
        left = [hit for hit in found if (hit.role, hit.text) not in window]
        hits, rest = left[:count], left[count:]
        missing = max(least_memories - sum(hit.kind == "memory" for hit in hits), 0)
        more = [hit for hit in rest if hit.kind == "memory"][:missing]
        hits = _without_last_quotes(hits, len(hits) + len(more) - count) + more
        _note_hits(context, hits)
        degraded = _degraded(view, policy, kinds, meaning.vector)
        if degraded:
            context.note("degraded", list(degraded))
        memories = tuple(hit.memory for hit in hits if hit.kind == "memory")
        return Recalled(memories=memories, hits=tuple(hits), degraded=degraded)

    def _parse(self, view: RecallView, text: str, now: datetime) -> Query:
        """Parse a query. Where it names a time, days are those of the user's timezone."""
        query = parse_query(text, now)
        if not query.periods:
            return query
        return parse_query(text, local(now, view.profile.get().timezone or self._timezone))


def _note_hits(context: StepContext, hits: Sequence[Hit]) -> None:
    """Note what was recalled and why, without content."""
    context.note("recalled", [_as_note(hit.id) for hit in hits])
    context.note("kinds", [hit.kind for hit in hits])
    context.note("confidence", [f"{hit.confidence:.2f}" for hit in hits])
    context.note("signals", [_strongest(hit) for hit in hits])
    sessions = [hit.message.session_ref if hit.kind == "message" else "none" for hit in hits]
    context.note("sessions", [_as_note(session) for session in sessions])
    context.note("filled", sum(hit.why.filled for hit in hits))


def _as_note(identity: str) -> str:
    """An id as a note takes it. One in another script, which a caller has chosen, is replaced by a digest."""
    return identity if identity.isascii() else str(uuid5(NAMESPACE_OID, identity))


def _strongest(hit: Hit) -> str:
    """The names of the signals that make up most of the score of a hit, strongest first."""
    parts = {name: signal.value * signal.weight for name, signal in hit.why.signals.items()}
    names = sorted((name for name in parts if parts[name] > 0), key=lambda name: -parts[name])
    return "+".join(names[:3]) or "none"


def _without_last_quotes(hits: Sequence[Hit], many: int) -> list[Hit]:
    """The hits without the last `many` that are no memories."""
    others = [place for place, hit in enumerate(hits) if hit.kind != "memory"]
    dropped = set(others[-many:]) if many > 0 else set[int]()
    return [hit for place, hit in enumerate(hits) if place not in dropped]


def _kinds(policy: RecallPolicy, inputs: RecallInputs) -> tuple[HitKind, ...]:
    """What to recall: what the request asks for, as far as the plan allows it."""
    return tuple(
        kind
        for kind in policy.kinds
        if (inputs.kinds is None or kind in inputs.kinds)
        and not (kind == "message" and inputs.account_plan in policy.without_messages)
    )


def _degraded(
    view: RecallView, policy: RecallPolicy, kinds: Collection[HitKind], query: _QueryVector
) -> tuple[Degraded, ...]:
    """The parts that failed. StoreUnavailable if messages are not indexed yet and the plan needs them."""
    vectors: tuple[Degraded, ...] = ("vectors",) if query.failed else ()
    if "message" not in kinds or view.messages.is_indexed:
        return vectors
    if "messages" not in policy.allow_degraded:
        raise StoreUnavailable(
            "older messages cannot be found now, because they are being indexed or the archive is away; try "
            "again later, or allow it with `allowDegraded` in the plan"
        )
    return (*vectors, "messages")


async def _embed(vector_search: VectorSearch, text: str, policy: RecallPolicy) -> _QueryVector:
    """Embed a query. ModelUnavailable, unless the plan allows the search to continue without."""
    try:
        return _QueryVector(await vector_search.embed_query(text))
    except ModelUnavailable as error:
        if "vectors" not in policy.allow_degraded:
            raise
        _log.warning("recall continues without vectors: %s", error)
        return _QueryVector(failed=True)


STEPS: tuple[type[AnyStep], ...] = (LoadMemories, LoadSummaries, RecallMemories)
