"""The prompts for remote models: one Markdown file per task and language (`ko/`, `en/`).

`data` is the system prompt of every task with a structured answer. `session` in Korean is the original
specification's text, word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Literal
from zoneinfo import ZoneInfo

from gieok.memory.blocks import date_with_weekday, render_today
from gieok.memory.companion.records import Spoken
from gieok.memory.fields import Language
from gieok.memory.observations import Conversation, ListedFact, SpokenMessage
from gieok.text.escaping import escape_line

Task = Literal["data", "remember", "session", "session_nothing", "hint", "repair"]


def prompt_text(task: Task, language: Language, **values: object) -> str:
    """The prompt with its `${placeholders}` replaced. Placeholders inside a value are not replaced."""
    return _template(task, language).substitute(values)


def data_block(lines: Iterable[tuple[str, str]]) -> str:
    """(role, content) lines between `<data>` and `</data>`. Every `<` in the content is escaped, so that it
    cannot close the block.
    """
    return "\n".join(("<data>", *(f"{role}: {escape_line(content)}" for role, content in lines), "</data>"))


def remember_task(conversation: Conversation, summary_chars: int, max_keywords: int) -> str:
    """The prompt to remember exchanges: the day, who speaks, what was said before, known facts with ids."""
    spoken_in = conversation.language
    today = conversation.said_at.astimezone(ZoneInfo(conversation.timezone))
    exchanges = "\n\n".join(
        f"[{number}]\n{_said(exchange.messages, today)}"
        for number, exchange in enumerate(conversation.exchanges, start=1)
    )
    known = [(fact.id, _fact(fact)) for fact in conversation.known]
    return prompt_text(
        "remember",
        spoken_in,
        today=date_with_weekday(today, spoken_in),
        timezone=conversation.timezone,
        character=escape_line(conversation.character) or "…",
        user=_user_name(conversation),
        known=data_block(known),
        before=_said(conversation.before, today),
        exchanges=exchanges,
        count=len(conversation.exchanges),
        summaryChars=summary_chars,
        maxKeywords=max_keywords,
    )


def _user_name(conversation: Conversation) -> str:
    if conversation.user_name is None:
        return ""
    name = escape_line(conversation.user_name)
    return f' 사용자의 이름은 "{name}"입니다.' if conversation.language == "ko" else f' The user is "{name}".'


def session_task(messages: Sequence[Spoken], spoken_in: Language) -> str:
    """The prompt to summarise a conversation: the day of its last message, and who said what, when."""
    lines = [
        (f"{each.role} {each.timestamp:%Y-%m-%d %H:%M}" if each.timestamp else each.role, each.content)
        for each in messages
    ]
    task = prompt_text("session", spoken_in, conversationHistory=data_block(lines))
    task = f"{task}\n\n{prompt_text('session_nothing', spoken_in)}"  # beside the text of the specification
    said_at = messages[-1].timestamp if messages else None
    return f"{render_today(said_at, spoken_in)}\n\n{task}" if said_at else task


def _said(messages: Iterable[SpokenMessage], today: datetime) -> str:
    """What was said, with the time on the user's clock, and the day if it is not today."""

    def said_at(message: SpokenMessage) -> str:
        at = message.at.astimezone(today.tzinfo)
        return f"{at:%H:%M}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M}"

    return data_block((f"{message.role} {said_at(message)}", message.text) for message in messages)


def _fact(fact: ListedFact) -> str:
    days = ", ".join(
        f"{name} {day}" for name, day in (("when", fact.when), ("until", fact.until)) if day is not None
    )
    about = "" if fact.subject == "user" else f"{fact.subject} "
    return f"{about}{fact.key}: {fact.value}" + (f" [{days}]" if days else "")


@lru_cache
def _template(task: Task, language: Language) -> Template:
    return Template((files(__name__) / language / f"{task}.md").read_text(encoding="utf-8").strip())
