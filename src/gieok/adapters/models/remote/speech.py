"""In which language a conversation is, and whether an answer is in it: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gieok.memory.fields import Language
from gieok.text import language


@dataclass(frozen=True)
class Spoken:
    """What the two sides of a conversation said."""

    user: str
    other: str

    @property
    def language(self) -> Language:
        """The language of the user's words; of the other side's where those have no letter."""
        return language(self.user, default=language(self.other, default="ko"))

    def problem(self, text: str) -> str | None:
        """What is wrong with the language of an answer, said for the model that is to mend it.

        Where the two sides speak two languages ("ok", said to a Korean character), either will do.
        """
        if not any(map(str.isalpha, text)):
            return "write words"
        allowed = {self.language, language(self.other, default=self.language)}
        if language(text) not in allowed:
            return f"write in {_NAMES[self.language]}, the language of the conversation"
        if "ko" not in allowed and _is_latin(self.user) and not _is_latin(text):
            return "write in the language of the conversation"
        return None


_NAMES: dict[Language, str] = {"ko": "Korean (한국어)", "en": "the language of the user's words"}


def spoken(lines: Sequence[tuple[str, str]]) -> Spoken:
    """The two sides of (role, content) lines."""
    return Spoken(
        user="\n".join(said for role, said in lines if role == "user"),
        other="\n".join(said for role, said in lines if role != "user"),
    )


def _is_latin(text: str) -> bool:
    """At least half of the letters are Latin."""
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(ord(char) < 0x250 for char in letters) >= len(letters)
