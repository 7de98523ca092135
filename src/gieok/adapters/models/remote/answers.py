"""Structured answers of a model: their fields, their schemas, and what can be wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from gieok.memory.companion.records import Emotion, Labels, SessionSummary, SummaryText
from gieok.memory.fields import Importance, Language, storable
from gieok.memory.observations import Category
from gieok.text import language

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


def _listed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "object", "properties": properties, "required": list(required)},
    }


def _one_of(values: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


_TEXT: Mapping[str, Any] = {"type": "string"}
_NUMBER: Mapping[str, Any] = {"type": "integer"}
_NOTES = _listed(
    {"summary": _TEXT, "keywords": {"type": "array", "items": _TEXT}},
    "summary",
    "keywords",
)
_OBSERVATIONS = _listed(
    {
        "turn": _NUMBER,
        "op": _one_of(("add", "update", "retire")),
        "id": _TEXT,
        "subject": _TEXT,
        "category": _one_of(Category),
        "key": _TEXT,
        "value": _TEXT,
        "quote": _TEXT,
        "says": _one_of(("user", "assistant")),
        "when": _TEXT,
        "until": _TEXT,
        "importance": _NUMBER,
    },
    "op",
    "category",
    "key",
    "value",
    "quote",
)
REMEMBER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"turns": _NOTES, "observations": _OBSERVATIONS},
    "required": ["turns", "observations"],
}
"""The form that a model is asked for, as short as it can be: it is sent with each turn that is remembered.
What the model answers is read leniently, see `parse_remembered`."""


class SessionAnswer(Answer):
    """A summary of a session with topics, emotion and importance. It is null if nothing is worth keeping."""

    summary: SummaryText | None
    topics: Labels
    emotion: EmotionWord
    importance: Importance

    @model_validator(mode="before")
    @classmethod
    def _nothing_else(cls, answer: Any) -> Any:
        """Where there is no summary, the rest may be missing."""
        if isinstance(answer, dict) and cast("dict[str, Any]", answer).get("summary", "") is None:
            return {"summary": None, "topics": (), "emotion": "calm", "importance": 1}
        return cast("Any", answer)

    def session_summary(self) -> SessionSummary | None:
        """Convert to the record. The emotion may be a Korean or an English word."""
        if self.summary is None:
            return None
        return SessionSummary(
            summary=self.summary,
            topics=tuple(dict.fromkeys(self.topics)),
            emotion=Emotion.parse(self.emotion),
            importance=self.importance,
        )


class HintAnswer(Answer):
    """A one-line description of a part of a conversation."""

    hint: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_HINT_CHARS),
        AfterValidator(storable),
    ]


def schema_of(answer: type[Answer]) -> dict[str, Any]:
    """The JSON schema of an answer, without our titles and descriptions."""
    return _without_notes(answer.model_json_schema(by_alias=True))


def _without_notes(schema: Any) -> Any:
    if isinstance(schema, dict):
        members = cast("dict[str, Any]", schema)
        notes = ("title", "description")
        return {
            name: _without_notes(value)
            for name, value in members.items()
            if name not in notes or not isinstance(value, str)
        }
    return (
        [_without_notes(each) for each in cast("list[Any]", schema)] if isinstance(schema, list) else schema
    )


@dataclass(frozen=True)
class Sides:
    """The text of both sides of a conversation, to check that an answer is in its language."""

    user: str
    other: str

    @classmethod
    def from_lines(cls, lines: Sequence[tuple[str, str]]) -> Sides:
        """Join (role, content) lines by side."""
        return cls(
            user="\n".join(content for role, content in lines if role == "user"),
            other="\n".join(content for role, content in lines if role != "user"),
        )

    @property
    def language(self) -> Language:
        """The language of the user's text, or of the other side's where the user wrote no letters."""
        return language(self.user, default=language(self.other, default="ko"))

    def problem(self, text: str) -> Problem | None:
        """What is wrong with the language of an answer.

        Where the two sides use two languages ("ok", said to a Korean character), either is accepted.
        """
        if not any(map(str.isalpha, text)):
            return "no_words"
        allowed = {self.language, language(self.other, default=self.language)}
        if language(text) not in allowed:
            return "language"
        if "ko" not in allowed and _is_latin(self.user) and not _is_latin(text):
            return "language"
        return None


Problem = Literal["format", "turns", "long", "copy", "no_words", "language"]
PROBLEMS: Mapping[Problem, Mapping[Language, str]] = {
    "format": {
        "ko": "요청한 형식의 JSON이 아닙니다. 설명 없이 요청한 형식으로만 쓰세요.",
        "en": "It is not JSON in the requested form. Write only the requested form, without any explanation.",
    },
    "turns": {
        "ko": "turns의 개수가 대화 차례의 수와 다릅니다. 차례마다 하나씩, 순서대로 쓰세요.",
        "en": "turns does not have one entry per exchange. Write one for each exchange, in their order.",
    },
    "long": {"ko": "summary가 너무 깁니다. 더 짧게 쓰세요.", "en": "A summary is too long. Make it shorter."},
    "copy": {
        "ko": "summary가 메시지를 그대로 옮겼습니다. 다른 말로 간추리세요.",
        "en": "A summary repeats the message. Condense it in other words.",
    },
    "no_words": {"ko": "낱말이 없습니다. 문장으로 쓰세요.", "en": "There are no words. Write a sentence."},
    "language": {
        "ko": "사용자가 쓰는 언어가 아닙니다. 한국어로 쓰세요.",
        "en": "It is not in the language that the user writes. Write in that language.",
    },
}
"""What can be wrong with an answer, as the repair request says it."""


def _is_latin(text: str) -> bool:
    """At least half of the letters are Latin."""
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(ord(char) < 0x250 for char in letters) >= len(letters)
