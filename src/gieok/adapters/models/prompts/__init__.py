"""The prompts for remote models: one Markdown file per task and language (`ko/`, `en/`).

`data` is the system prompt of every task with a structured answer. `session` in Korean is the original
specification's text, word for word.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Literal

from gieok.memory.fields import Language
from gieok.text.escaping import escape_line

Task = Literal["data", "reply", "turn", "session", "facts", "hint"]


def prompt_text(task: Task, language: Language, **values: object) -> str:
    """The prompt with its `${placeholders}` replaced. Placeholders inside a value are not replaced."""
    return _template(task, language).substitute(values)


def data_block(lines: Iterable[tuple[str, str]]) -> str:
    """(role, content) lines between `<data>` and `</data>`. Every `<` in the content is escaped, so that it
    cannot close the block.
    """
    return "\n".join(("<data>", *(f"{role}: {escape_line(content)}" for role, content in lines), "</data>"))


@lru_cache
def _template(task: Task, language: Language) -> Template:
    return Template((files(__name__) / language / f"{task}.md").read_text(encoding="utf-8").strip())
