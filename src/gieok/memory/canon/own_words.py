"""What a speaker said in their own words: without blocks of a prompt that were pasted, and quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gieok.memory.blocks import DIRECTIVES, HEADERS
from gieok.memory.observations import Category
from gieok.text.normalization import clean

_BREAKS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HEADER = "|".join(re.escape(header) for header in HEADERS)
_FACT = rf"[-*•] ?\((?:{'|'.join(Category)})\)"
_ROLE = r"^(?:system|assistant|user) ?:"
_PASTED = re.compile(f"(?P<header>{_HEADER})|{_FACT}|{_ROLE}", re.IGNORECASE)
_BULLET = re.compile(r"[-*•]|$")
_TAGGED = re.compile(r"[<＜](?P<role>system|assistant|user)[>＞].*?(?:[<＜]/(?P=role)[>＞]|\Z)", re.I | re.S)
# Mails quote with ">"; an emoticon such as >_< is no quote.
_CITED = re.compile(r">(?!.{0,3}<)")
_ENDS = ".!?…\n"
_THEN_QUOTED = re.compile(rf"[{_ENDS}]{{1,8}}[\"'”’」]?\s{{0,8}}(?=이?라(?:고|는)\s)")


def own_words(text: str) -> str:
    """Remove what the speaker pasted or quoted.

    Pasted from a prompt: blocks, their lines and directives, text with a role. Quoted: lines that start with
    `>`, and a sentence that the next one quotes (…했어. 라고 쓰여 있더라).
    """
    return "\n".join(_own_lines(_BREAKS.split(_unquoted(_TAGGED.sub("", text))))).strip()


def _unquoted(text: str) -> str:
    kept: list[str] = []
    at = 0
    for quoted in _THEN_QUOTED.finditer(text):
        begins = max(text.rfind(end, at, quoted.start()) for end in _ENDS) + 1
        kept.append(text[at : max(at, begins)])
        at = quoted.end()
    return "".join((*kept, text[at:]))


def _own_lines(lines: Iterable[str]) -> Iterator[str]:
    in_block = False
    for line in lines:
        seen = clean(line)
        pasted = _PASTED.search(seen)
        if _CITED.match(seen):
            continue
        if pasted:
            in_block = in_block or pasted["header"] is not None
            yield seen[: pasted.start()]
        elif seen not in DIRECTIVES and not (in_block and _BULLET.match(seen)):
            in_block = False
            yield line
