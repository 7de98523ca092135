"""Who gets a place, and which moments matter: pure functions over memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data
from gieok.errors import InputRefused
from gieok.memory.companion.records import Emotion, EmotionalMoment, Memory, MemoryConfig
from gieok.memory.fields import AccountPlan, Importance
from gieok.text import normalize

MAX_QUERY_CHARS = 20_000
MAX_PAGE = 1_000


class ActiveLimit(Data):
    """How many active memories a persona may have, by the user's account plan. None is no limit."""

    free: Annotated[int, Field(ge=1, le=1_000_000)] | None
    premium: Annotated[int, Field(ge=1, le=1_000_000)] | None

    def of(self, account: AccountPlan, config: MemoryConfig) -> int | None:
        """The limit of the account, or the lower one that the user set."""
        limits = (self.free if account == "free" else self.premium, config.active_limit)
        return min((limit for limit in limits if limit is not None), default=None)


class MomentPolicy(Data):
    """Which memories are moments that mattered."""

    min_importance: Importance
    emotions: Annotated[tuple[Emotion, ...], Field(max_length=len(Emotion))]


class KeepPolicy(Data):
    """What a plan says about keeping memories."""

    active_limit: ActiveLimit
    moments: MomentPolicy


class Standing(NamedTuple):
    """An active memory as the contest for places sees it. `topics` is equal for memories about the same."""

    id: UUID
    importance: int
    created: tuple[int, int]
    """Grows with the time of creation; no two memories of a persona have the same."""
    topics: int | None


class Fallen(NamedTuple):
    """Who gets no place, and why."""

    older_of_same_topics: tuple[UUID, ...]
    beyond_the_limit: tuple[UUID, ...]


NOBODY = Fallen((), ())


def topic_set(topics: Iterable[str]) -> tuple[str, ...]:
    """What makes topics the same: their words in any order, case, width or Unicode form."""
    return tuple(sorted({folded for topic in topics if (folded := normalize(topic))}))


def contest(active: Sequence[Standing], limit: int) -> Fallen:
    """Places go to the newest memory about its topics, the most important first, then the newest."""
    newest: dict[int, Standing] = {}
    for one in active:
        if one.topics is not None and one.created >= newest.get(one.topics, one).created:
            newest[one.topics] = one
    alone = [one for one in active if one.topics is None or newest[one.topics] is one]
    kept = {one.id for one in alone}
    alone.sort(key=lambda one: (one.importance, one.created), reverse=True)
    return Fallen(
        tuple(one.id for one in active if one.id not in kept), tuple(one.id for one in alone[limit:])
    )


def of_same_topics(one: Standing, active: Iterable[Standing]) -> list[Standing]:
    """The other active memories about the same topics: of them all, only the newest has a place."""
    return [
        other
        for other in active
        if one.topics is not None and other.topics == one.topics and other.id != one.id
    ]


def moment_of(memory: Memory, policy: MomentPolicy) -> EmotionalMoment | None:
    """The moment that a memory holds, if it mattered enough."""
    if memory.importance < policy.min_importance or memory.emotion not in policy.emotions:
        return None
    return EmotionalMoment(
        id=uuid4(),
        persona_id=memory.persona_id,
        memory_id=memory.id,
        emotion=memory.emotion,
        intensity=memory.importance,
        moment=memory.summary,
        at=memory.occurred_at,
    )


def check_query(query: str) -> None:
    """Refuse a query that cannot be meant."""
    if len(query) > MAX_QUERY_CHARS:
        raise InputRefused(
            f"may have at most {MAX_QUERY_CHARS} characters, and this one has {len(query)}", at="query"
        )


def check_page(limit: int, offset: int) -> None:
    """Refuse a page that cannot be meant."""
    if not 1 <= limit <= MAX_PAGE:
        raise InputRefused(f"must be between 1 and {MAX_PAGE}", at="limit")
    if not 0 <= offset <= 2**31:
        raise InputRefused(f"must be between 0 and {2**31}", at="offset")
