"""Structured answers of a model: their fields, and checks that pydantic cannot express (length, language)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from gieok.memory.canon.records import ExtractedFact
from gieok.memory.companion.records import Emotion, Labels, SessionSummary, SummaryText
from gieok.memory.fields import Importance, Language, storable
from gieok.memory.observations import Category, FactValue, Key, Keywords, Summary
from gieok.memory.turns.records import Turn, TurnSummary
from gieok.memory.turns.rules import is_copy
from gieok.text import language

MAX_FACTS = 100
MAX_HINT_CHARS = 2_000

EmotionWord = Literal[
    "기쁨", "슬픔", "스트레스", "평온", "흥분", "joy", "sadness", "stress", "calm", "excitement"
]


class Answer(BaseModel):
    """A structured answer. Unknown fields are refused, so that a model cannot add data to be stored."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )


class TurnAnswer(Answer):
    """A summary of one turn, and its search keywords."""

    summary: Summary
    keywords: Keywords

    def problem(self, turn: Turn, summary_chars: int) -> str | None:
        """Why turn memory would refuse the summary, as an instruction for the repair request."""
        if len(self.summary) > summary_chars:
            return f"the summary may have at most {summary_chars} characters"
        if is_copy(self.summary, turn.user) or is_copy(self.summary, turn.assistant):
            return "the summary repeats the message; condense it in other words"
        return None

    def turn_summary(self, max_keywords: int) -> TurnSummary:
        """Convert to the record, with at most `max_keywords` keywords."""
        keywords = tuple(dict.fromkeys(self.keywords))[:max_keywords]
        return TurnSummary(summary=self.summary, keywords=keywords)


class SessionAnswer(Answer):
    """A summary of a session with topics, emotion and importance."""

    summary: SummaryText
    topics: Labels
    emotion: EmotionWord
    importance: Importance

    def session_summary(self) -> SessionSummary:
        """Convert to the record. The emotion may be a Korean or an English word."""
        return SessionSummary(
            summary=self.summary,
            topics=tuple(dict.fromkeys(self.topics)),
            emotion=Emotion.parse(self.emotion),
            importance=self.importance,
        )


class FactAnswer(Answer):
    """One fact extracted from a turn. The step checks by grounding that it was really said."""

    category: Category
    key: Key
    value: FactValue
    importance: Importance
    said_by: Literal["user", "assistant"]
    retracts: bool

    def extracted_fact(self) -> ExtractedFact:
        """Convert to the record. What the character said counts as concluded by the model."""
        return ExtractedFact(
            category=self.category,
            key=self.key,
            value=self.value,
            importance=self.importance,
            provenance="user" if self.said_by == "user" else "model",
            retracts=self.retracts,
        )


class FactsAnswer(Answer):
    """The facts of a turn; may be empty."""

    facts: Annotated[tuple[FactAnswer, ...], Field(max_length=MAX_FACTS)]


class HintAnswer(Answer):
    """A one-line description of a part of a conversation."""

    hint: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_HINT_CHARS),
        AfterValidator(storable),
    ]


@dataclass(frozen=True)
class Conversation:
    """The text of both sides of a conversation, to check that an answer is in its language."""

    user: str
    other: str

    @classmethod
    def from_lines(cls, lines: Sequence[tuple[str, str]]) -> Conversation:
        """Join (role, content) lines by side."""
        return cls(
            user="\n".join(content for role, content in lines if role == "user"),
            other="\n".join(content for role, content in lines if role != "user"),
        )

    @property
    def language(self) -> Language:
        """The language of the user's text, or of the other side's where the user wrote no letters."""
        return language(self.user, default=language(self.other, default="ko"))

    def problem(self, text: str) -> str | None:
        """What is wrong with the language of an answer, as an instruction for the repair request.

        Where the two sides use two languages ("ok", said to a Korean character), either is accepted.
        """
        if not any(map(str.isalpha, text)):
            return "write words"
        allowed = {self.language, language(self.other, default=self.language)}
        if language(text) not in allowed:
            return f"write in {_LANGUAGE_NAMES[self.language]}, the language of the conversation"
        if "ko" not in allowed and _is_latin(self.user) and not _is_latin(text):
            return "write in the language of the conversation"
        return None


_LANGUAGE_NAMES: dict[Language, str] = {"ko": "Korean (한국어)", "en": "the language of the user's words"}


def _is_latin(text: str) -> bool:
    """At least half of the letters are Latin."""
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(ord(char) < 0x250 for char in letters) >= len(letters)
