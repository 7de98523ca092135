"""The two stories, in Korean and English: what the user says and decides. Replies come from the run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Literal

from gieok.memory.decisions.records import RelationType, Strength

_SEOUL = timezone(timedelta(hours=9))


@dataclass(frozen=True)
class Messages:
    """Messages of the user, and the time of the first."""

    at: datetime
    texts: tuple[str, ...]


@dataclass(frozen=True)
class StoryDecision:
    """A decision, and its relations to other decisions of the story by their index."""

    statement: str
    strength: Strength
    relations: tuple[tuple[RelationType, int], ...] = ()


@dataclass(frozen=True)
class Story:
    """A few days of conversations between a user and a character."""

    language: Literal["ko", "en"]
    owner: str
    persona_id: str
    character: str
    character_prompt: str
    talks: tuple[Messages, ...]
    """Sessions that are closed and become memories."""
    recall: Messages
    """The first message of a new session."""
    change: Messages
    """A message that changes a fact."""
    killed: Messages
    """The message whose turn is killed."""
    secrets: tuple[str, ...]
    """Words of the last conversation that must not occur in any file."""
    domain: str
    decisions: tuple[StoryDecision, ...]
    """The demo shows the impact of a change of the first one."""


STORIES = {
    "ko": Story(
        language="ko",
        owner="mina",
        persona_id="haru",
        character="하루",
        character_prompt="너는 하루, 사용자의 오랜 친구다. 짧고 따뜻하게, 반말로 말한다.",
        talks=(
            Messages(
                datetime(2026, 3, 1, 21, 0, tzinfo=_SEOUL),
                ("나 지훈이랑 사귀기로 했어! 오늘은 같이 자전거도 탔어",),
            ),
            Messages(
                datetime(2026, 3, 5, 20, 10, tzinfo=_SEOUL),
                ("내일 중요한 면접이 있어", "IT 스타트업인데 정말 가고 싶어", "첫 면접이라 너무 떨려"),
            ),
        ),
        recall=Messages(datetime(2026, 3, 6, 19, 30, tzinfo=_SEOUL), ("그 면접에서 방금 나왔어!",)),
        change=Messages(datetime(2026, 3, 6, 19, 35, tzinfo=_SEOUL), ("근데 나 지훈이랑 헤어졌어",)),
        killed=Messages(datetime(2026, 3, 6, 19, 40, tzinfo=_SEOUL), ("방금 전화 왔는데, 합격했대!",)),
        secrets=("면접", "스타트업", "떨려"),
        domain="보안",
        decisions=(
            StoryDecision("기억은 사용자마다 다른 키로 암호화한다", "axis"),
            StoryDecision("검색은 블라인드 인덱스로 한다", "lock", (("DEPENDS_ON", 0),)),
            StoryDecision("검색 결과에는 일치한 단어를 함께 준다", "normal", (("IMPLEMENTS", 1),)),
            StoryDecision("백업에는 평문을 넣지 않는다", "lock", (("REFINES", 0),)),
            StoryDecision("사용자를 지우면 키부터 파기한다", "normal", (("DEPENDS_ON", 0),)),
        ),
    ),
    "en": Story(
        language="en",
        owner="mina",
        persona_id="haru",
        character="Haru",
        character_prompt="You are Haru, an old friend of the user. You speak warmly and briefly.",
        talks=(
            Messages(
                datetime(2026, 3, 1, 21, 0, tzinfo=UTC),
                ("I am dating Jihoon now! We went cycling by the river.",),
            ),
            Messages(
                datetime(2026, 3, 5, 20, 10, tzinfo=UTC),
                (
                    "I have an important job interview tomorrow.",
                    "It is at a startup and I really want to go there.",
                    "I am so nervous, it is my first interview.",
                ),
            ),
        ),
        recall=Messages(datetime(2026, 3, 6, 19, 30, tzinfo=UTC), ("I just came out of the interviews!",)),
        change=Messages(datetime(2026, 3, 6, 19, 35, tzinfo=UTC), ("I broke up with Jihoon.",)),
        killed=Messages(datetime(2026, 3, 6, 19, 40, tzinfo=UTC), ("The startup wants me! I am so happy!",)),
        secrets=("interview", "startup", "nervous"),
        domain="security",
        decisions=(
            StoryDecision("Memories are encrypted with a key per user", "axis"),
            StoryDecision("Search uses a blind index", "lock", (("DEPENDS_ON", 0),)),
            StoryDecision("A search result says which words matched", "normal", (("IMPLEMENTS", 1),)),
            StoryDecision("Backups contain no plain text", "lock", (("REFINES", 0),)),
            StoryDecision("Erasing a user destroys the key first", "normal", (("DEPENDS_ON", 0),)),
        ),
    ),
}
