"""The two stories: what the user says and decides. What the character answers comes from the run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Literal

from gieok.memory.decisions.records import RelationType, Strength

_SEOUL = timezone(timedelta(hours=9))


@dataclass(frozen=True)
class Lines:
    """What the user says from a time on."""

    at: datetime
    said: tuple[str, ...]


@dataclass(frozen=True)
class Decided:
    """A decision, and its relations to others of the story by their place in it."""

    statement: str
    strength: Strength
    relations: tuple[tuple[RelationType, int], ...] = ()


@dataclass(frozen=True)
class Story:
    """A few days between a user and a character. The clock is set to them; all else is as in service."""

    language: Literal["ko", "en"]
    owner: str
    persona_id: str
    character: str
    character_prompt: str
    talks: tuple[Lines, ...]
    """Each is a session that is closed and remembered."""
    back: Lines
    """The first message of a new session."""
    change: Lines
    """A message that changes what is true."""
    lost: Lines
    """The message whose turn is killed."""
    secrets: tuple[str, ...]
    """Words of the last talk that must not stand in any file."""
    domain: str
    decisions: tuple[Decided, ...]
    """The first is the one whose change is asked about."""


STORIES = {
    "ko": Story(
        language="ko",
        owner="mina",
        persona_id="haru",
        character="하루",
        character_prompt="너는 하루, 사용자의 오랜 친구다. 짧고 따뜻하게, 반말로 말한다.",
        talks=(
            Lines(
                datetime(2026, 3, 1, 21, 0, tzinfo=_SEOUL),
                ("나 지훈이랑 사귀기로 했어! 오늘은 같이 자전거도 탔어",),
            ),
            Lines(
                datetime(2026, 3, 5, 20, 10, tzinfo=_SEOUL),
                ("내일 중요한 면접이 있어", "IT 스타트업인데 정말 가고 싶어", "첫 면접이라 너무 떨려"),
            ),
        ),
        back=Lines(datetime(2026, 3, 6, 19, 30, tzinfo=_SEOUL), ("그 면접에서 방금 나왔어!",)),
        change=Lines(datetime(2026, 3, 6, 19, 35, tzinfo=_SEOUL), ("근데 나 지훈이랑 헤어졌어",)),
        lost=Lines(datetime(2026, 3, 6, 19, 40, tzinfo=_SEOUL), ("방금 전화 왔는데, 합격했대!",)),
        secrets=("면접", "스타트업", "떨려"),
        domain="보안",
        decisions=(
            Decided("기억은 사용자마다 다른 열쇠로 봉인한다", "axis"),
            Decided("검색은 블라인드 인덱스로 한다", "lock", (("DEPENDS_ON", 0),)),
            Decided("검색 결과에는 맞은 낱말을 함께 준다", "normal", (("IMPLEMENTS", 1),)),
            Decided("백업에는 평문을 넣지 않는다", "lock", (("REFINES", 0),)),
            Decided("사용자를 지우면 열쇠부터 없앤다", "normal", (("DEPENDS_ON", 0),)),
        ),
    ),
    "en": Story(
        language="en",
        owner="mina",
        persona_id="haru",
        character="Haru",
        character_prompt="You are Haru, an old friend of the user. You speak warmly and briefly.",
        talks=(
            Lines(
                datetime(2026, 3, 1, 21, 0, tzinfo=UTC),
                ("I am dating Jihoon now! We went cycling by the river.",),
            ),
            Lines(
                datetime(2026, 3, 5, 20, 10, tzinfo=UTC),
                (
                    "I have an important job interview tomorrow.",
                    "It is at a startup and I really want to go there.",
                    "I am so nervous, it is my first interview.",
                ),
            ),
        ),
        back=Lines(datetime(2026, 3, 6, 19, 30, tzinfo=UTC), ("I just came out of the interviews!",)),
        change=Lines(datetime(2026, 3, 6, 19, 35, tzinfo=UTC), ("I broke up with Jihoon.",)),
        lost=Lines(datetime(2026, 3, 6, 19, 40, tzinfo=UTC), ("The startup wants me! I am so happy!",)),
        secrets=("interview", "startup", "nervous"),
        domain="security",
        decisions=(
            Decided("Memories are sealed with a key per user", "axis"),
            Decided("Search goes through a blind index", "lock", (("DEPENDS_ON", 0),)),
            Decided("A hit says which words matched", "normal", (("IMPLEMENTS", 1),)),
            Decided("No backup holds plain text", "lock", (("REFINES", 0),)),
            Decided("Erasing a user destroys the key first", "normal", (("DEPENDS_ON", 0),)),
        ),
    ),
}
