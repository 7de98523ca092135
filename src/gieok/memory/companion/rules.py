"""Rules of companion memory: the active limit, emotional moments, notices, limits of input. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, NamedTuple
from uuid import UUID, uuid4

from pydantic import Field

from gieok.engine import Data
from gieok.errors import InputRefused
from gieok.memory.companion.records import (
    Emotion,
    EmotionalMoment,
    Memory,
    MemoryConfig,
    NoticeKind,
    NoticeTexts,
    Spoken,
)
from gieok.memory.fields import AccountPlan, Importance
from gieok.text import normalize
from gieok.text.small_talk import is_assent, is_small_talk

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
    """Which memories are emotional moments."""

    min_importance: Importance
    emotions: Annotated[tuple[Emotion, ...], Field(max_length=len(Emotion))]


class KeepPolicy(Data):
    """Policy of a plan for saving memories."""

    active_limit: ActiveLimit
    moments: MomentPolicy
    notices: NoticeTexts


class RankKey(NamedTuple):
    """What decides whether a memory stays active. `topics` is equal for memories with the same topics."""

    id: UUID
    importance: int
    created: tuple[int, int]
    """Orders memories by creation; unique within a persona."""
    topics: int | None


class ToArchive(NamedTuple):
    """The memories that do not stay active, by reason."""

    older_with_same_topics: tuple[UUID, ...]
    over_limit: tuple[UUID, ...]


NONE_TO_ARCHIVE = ToArchive((), ())


def topic_set(topics: Iterable[str]) -> tuple[str, ...]:
    """Topics in canonical form: equal regardless of order, case, width and Unicode form."""
    return tuple(sorted({folded for topic in topics if (folded := normalize(topic))}))


def apply_active_limit(active: Sequence[RankKey], limit: int) -> ToArchive:
    """Choose the memories to archive. Of memories with the same topics the newest stays active; the others
    are ranked by importance, then newest first."""
    newest: dict[int, RankKey] = {}
    for key in active:
        if key.topics is not None and key.created >= newest.get(key.topics, key).created:
            newest[key.topics] = key
    candidates = [key for key in active if key.topics is None or newest[key.topics] is key]
    candidates.sort(key=lambda key: (key.importance, key.created), reverse=True)
    candidate_ids = {key.id for key in candidates}
    return ToArchive(
        older_with_same_topics=tuple(key.id for key in active if key.id not in candidate_ids),
        over_limit=tuple(key.id for key in candidates[limit:]),
    )


def with_same_topics(memory: RankKey, active: Iterable[RankKey]) -> list[RankKey]:
    """The other active memories with the same topics."""
    return [
        other
        for other in active
        if memory.topics is not None and other.topics == memory.topics and other.id != memory.id
    ]


def moment_of(memory: Memory, policy: MomentPolicy) -> EmotionalMoment | None:
    """The emotional moment of a memory, if the policy makes it one."""
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


def notices_of(account: AccountPlan, archived: ToArchive, *, is_excerpt: bool) -> tuple[NoticeKind, ...]:
    """Which notices there are about a memory that was saved."""
    full: tuple[NoticeKind, ...] = ("full", "more") if account == "free" else ("full",)
    return (
        *(full if archived.over_limit else ()),
        *(("topics",) if archived.older_with_same_topics else ()),
        *(("excerpt",) if is_excerpt else ()),
    )


def check_query(query: str) -> None:
    """Refuse a query that is too long."""
    if len(query) > MAX_QUERY_CHARS:
        raise InputRefused(
            f"may have at most {MAX_QUERY_CHARS} characters, and this one has {len(query)}", at="query"
        )


def check_page(limit: int, offset: int) -> None:
    """Refuse a page size or an offset out of range."""
    if not 1 <= limit <= MAX_PAGE:
        raise InputRefused(f"must be between 1 and {MAX_PAGE}", at="limit")
    if not 0 <= offset <= 2**31:
        raise InputRefused(f"must be between 0 and {2**31}", at="offset")


def is_only_small_talk(messages: Sequence[Spoken]) -> bool:
    """Whether the user said nothing but small talk. "Yes" to a question that says more is an answer."""
    asked, has_user = "", False
    for message in messages:
        if message.role != "user":
            asked = message.content if "?" in message.content and not is_small_talk(message.content) else ""
        elif not is_small_talk(message.content) or (asked and is_assent(message.content)):
            return False
        else:
            has_user = True
    return has_user
