"""What one English rule is: what a clause looks like, and the facts that it then states."""

from __future__ import annotations

import re
from typing import NamedTuple

from gieok.memory.observations import Category


class States(NamedTuple):
    """A fact whose blanks (`{x}`) are the groups of the pattern; a key has them bare, in lower case."""

    category: Category
    key: str
    value: str
    retracts: bool = False


class Rule(NamedTuple):
    """`extra` raises or lowers the importance of every fact that the rule states."""

    pattern: re.Pattern[str]
    facts: tuple[States, ...]
    extra: int = 0


def rule(pattern: str, *facts: States, extra: int = 0) -> Rule:
    """A rule for a whole clause, whatever its case."""
    return Rule(re.compile(f"^(?:{pattern})$", re.IGNORECASE), facts, extra)


def any_word(words: str) -> str:
    """A pattern for one of the words of a list; `_` stands for a space within one."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in words.split())})"
