"""The forms in which a model answers a task: checked by pydantic, and nothing beyond them taken."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from gieok.memory.canon.records import Category, ExtractedFact, FactValue, Key
from gieok.memory.companion.records import Emotion, Labels, SessionSummary, SummaryText
from gieok.memory.fields import Importance, storable
from gieok.memory.turns.records import Keywords, Summary, Turn, TurnSummary
from gieok.memory.turns.rules import is_raw

MAX_FACTS = 100
MAX_HINT_CHARS = 2_000

EmotionWord = Literal[
    "기쁨", "슬픔", "스트레스", "평온", "흥분", "joy", "sadness", "stress", "calm", "excitement"
]


class Answer(BaseModel):
    """What a model answers. A field beyond its form is refused: a model may not add anything to keep."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )


class TurnAnswer(Answer):
    """A summary of one exchange, and the words by which it is found again."""

    summary: Summary
    keywords: Keywords

    def problem(self, turn: Turn, summary_chars: int) -> str | None:
        """What a turn memory could not keep, said for the model that is to mend it."""
        if len(self.summary) > summary_chars:
            return f"the summary may have at most {summary_chars} characters"
        if is_raw(self.summary, turn.user) or is_raw(self.summary, turn.assistant):
            return "the summary repeats the message; condense it in other words"
        return None

    def turn_summary(self, max_keywords: int) -> TurnSummary:
        """The record; keywords beyond the plan's number are left out."""
        keywords = tuple(dict.fromkeys(self.keywords))[:max_keywords]
        return TurnSummary(summary=self.summary, keywords=keywords)


class SessionAnswer(Answer):
    """A conversation in one or two sentences, by the seed's criteria."""

    summary: SummaryText
    topics: Labels
    emotion: EmotionWord
    importance: Importance

    def session_summary(self) -> SessionSummary:
        """The record; the emotion by its English value, whichever word was used."""
        return SessionSummary(
            summary=self.summary,
            topics=tuple(dict.fromkeys(self.topics)),
            emotion=Emotion.parse(self.emotion),
            importance=self.importance,
        )


class FoundFact(Answer):
    """One fact of a turn, as a model found it. Where it comes from is checked again by grounding."""

    category: Category
    key: Key
    value: FactValue
    importance: Importance
    said_by: Literal["user", "assistant"]
    retracts: bool

    def extracted(self) -> ExtractedFact:
        """The record; what the character said is the model's conclusion, not the user's word."""
        return ExtractedFact(
            category=self.category,
            key=self.key,
            value=self.value,
            importance=self.importance,
            provenance="user" if self.said_by == "user" else "model",
            retracts=self.retracts,
        )


class FactsAnswer(Answer):
    """The facts of a turn; an empty list where there is none."""

    facts: Annotated[tuple[FoundFact, ...], Field(max_length=MAX_FACTS)]


class HintAnswer(Answer):
    """One line about a stretch of conversation."""

    hint: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_HINT_CHARS),
        AfterValidator(storable),
    ]
