"""What a remote model is told, in Korean and in English: one file for each task and language.

`data` goes before every task that makes a record; `session` is the text of the seed, word for word.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Literal

from gieok.memory.fields import Language
from gieok.text.line import escape_line

Task = Literal["data", "reply", "turn", "session", "facts", "hint"]


def prompt(task: Task, language: Language, **values: object) -> str:
    """The text of a task with its `${places}` filled. What is filled in is never read for places again."""
    return _template(task, language).substitute(values)


def data(lines: Iterable[tuple[str, str]]) -> str:
    """What was said, by whom, as material that cannot be closed from inside: every `<` in it is escaped."""
    return "\n".join(("<data>", *(f"{who}: {escape_line(said)}" for who, said in lines), "</data>"))


@lru_cache
def _template(task: Task, language: Language) -> Template:
    return Template((files(__name__) / language / f"{task}.md").read_text(encoding="utf-8").strip())
