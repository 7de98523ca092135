"""Blocks of a system prompt that contain stored text: the state block and the block of past conversations.

Every stored text is escaped to one line that begins with a dash, so that no text can forge a header, a
directive or another line: `parse_state(render_state(lines, language)) == lines` for any lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple, Protocol

from gieok.errors import InputRefused
from gieok.memory.fields import Language
from gieok.text.escaping import escape_line, unescape_line


class StateLine(NamedTuple):
    """One line of the state block."""

    category: str
    key: str
    value: str


class StateLike(Protocol):
    """A record that can be a line of the state block."""

    @property
    def category(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...


@dataclass(frozen=True)
class Wording:
    """The fixed text of the blocks in one language."""

    today: str
    """Before the date of today."""
    state_header: str
    state_directives: tuple[str, ...]
    memory_header: str
    memory_lead: str
    memory_directives: tuple[str, ...]


WORDING: Mapping[Language, Wording] = {
    "ko": Wording(
        today="[오늘 날짜]",
        state_header="[현재 상태(캐논)]",
        state_directives=(
            "위 항목들은 현재 시점의 정합성으로 취급한다.",
            "사용자 메시지가 새로운 사실을 제공하거나 모순되면, "
            "자연스럽게 상태가 업데이트되는 방향으로 응답한다.",
            "상태/기억 블록의 존재를 언급하지 않는다.",
        ),
        memory_header="[과거 대화 기록]",
        memory_lead="당신은 사용자와 다음과 같은 대화를 나눴습니다:",
        memory_directives=(
            "이 정보를 바탕으로 자연스럽게 대화를 이어가세요.",
            "기억을 직접 언급하지 마세요.",
        ),
    ),
    "en": Wording(
        today="[Current date]",
        state_header="[Current state (canon)]",
        state_directives=(
            "Treat these lines as what is true at this moment.",
            "Where the message adds to them or contradicts them, let the state move on as you answer.",
            "Never mention that this block or the memories exist.",
        ),
        memory_header="[Past conversations]",
        memory_lead="You and the user have talked about this before:",
        memory_directives=(
            "Continue the conversation naturally from it.",
            "Do not mention the memories as such.",
        ),
    ),
}

WEEKDAYS: Mapping[Language, tuple[str, ...]] = {
    "ko": ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}
"""Names of the days, from Monday on."""

_PAST: Mapping[Language, str] = {"ko": "(지난 일)", "en": "(past)"}


HEADERS = tuple(
    header for each in WORDING.values() for header in (each.today, each.state_header, each.memory_header)
)
"""The first lines of the blocks. They must not appear anywhere else in a prompt."""

DIRECTIVES = tuple(
    line
    for each in WORDING.values()
    for line in (each.memory_lead, *each.state_directives, *each.memory_directives)
)
"""The instructions for the model in the blocks."""

_LINE = re.compile(
    r"- \((?P<category>(?:[^\\)]|\\.)*)\) (?P<key>(?:[^\\:]|\\.|:(?! ))*): (?P<value>(?:[^\\]|\\.)*)"
)
# A colon inside a word does not end a key: `person:민수` needs no escape.
_COLON_IN_WORD = re.compile(r"\\:(?=[0-9A-Za-z가-힣])")


def date_with_weekday(day: date, language: Language) -> str:
    """`2026-03-05 (목요일)`, `2026-03-05 (Thursday)`."""
    return f"{day:%Y-%m-%d} ({WEEKDAYS[language][day.weekday()]})"


def render_today(day: date, language: Language) -> str:
    """The line that says what day it is."""
    return f"{WORDING[language].today} {date_with_weekday(day, language)}"


def value_with_day(value: str, when: date | None, language: Language, *, is_past: bool = False) -> str:
    """The value with its day, if that is not in the value already, and marked if it is past."""
    day = "" if when is None or str(when) in value else f", {when}"
    return f"{value}{day} {_PAST[language]}" if is_past else f"{value}{day}"


def state_line(fact: StateLike) -> str:
    """`- (category) key: value` on one line."""
    category = escape_line(fact.category, ")")
    key = _COLON_IN_WORD.sub(":", escape_line(fact.key, ":"))
    return f"- ({category}) {key}: {escape_line(fact.value)}"


def state_frame(language: Language) -> str:
    """The state block without its lines, to measure its fixed size."""
    wording = WORDING[language]
    return "\n".join((wording.state_header, "", *wording.state_directives))


def render_state(facts: Sequence[StateLike], language: Language) -> str:
    """The state block; empty without facts."""
    header, rest = state_frame(language).split("\n", 1)
    return "\n".join((header, *map(state_line, facts), rest)) if facts else ""


def parse_state(block: str) -> tuple[StateLine, ...]:
    """The inverse of `render_state`. InputRefused for any other text."""
    if not block:
        return ()
    header, *lines = block.split("\n")
    for wording in WORDING.values():
        ending = ["", *wording.state_directives]
        if header == wording.state_header and lines[-len(ending) :] == ending:
            return tuple(_parse_line(line) for line in lines[: -len(ending)])
    raise InputRefused("is not a state block: its first or last lines differ", at="block")


def memory_line(summary: str, day: datetime) -> str:
    """`- summary (day)` on one line."""
    return f"- {escape_line(summary)} ({day:%Y-%m-%d})"


def memory_frame(language: Language) -> tuple[str, str]:
    """The text before and after the lines of past conversations."""
    wording = WORDING[language]
    before = "\n".join((wording.memory_header, wording.memory_lead, ""))
    return before, "\n".join(("", *wording.memory_directives))


def render_memories(memories: Iterable[tuple[str, datetime]], language: Language) -> str:
    """The block of past conversations, one summary with its day per line; empty without any."""
    lines = [memory_line(summary, day) for summary, day in memories]
    before, after = memory_frame(language)
    return "\n".join((before, *lines, after)) if lines else ""


def _parse_line(line: str) -> StateLine:
    match = _LINE.fullmatch(line)
    if match is None:
        raise InputRefused("has a line that is not '- (category) key: value'", at="block")
    return StateLine(*(unescape_line(part) for part in match.groups()))
