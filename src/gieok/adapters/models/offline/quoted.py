"""What the user only quotes, and does not say: a line of a book, a song, what somebody else told."""

from __future__ import annotations

import re

_SUNG = re.compile(r"[♪♫🎵🎶][^\n]*")
_SPAN = re.compile(
    r"[\"“]([^\"”\n]{2,300})[\"”]|(?:(?<=[\s:(])|^)['‘]([^'’\n]{4,300}(?:['’]\w[^'’\n]*)*)['’](?![a-z])"
    r"|「([^」\n]{2,300})」",
    re.IGNORECASE,
)
# A title is quoted too, and may be what the user likes. A sentence closes, or has a speaker.
_SENTENCE = re.compile(
    r"[.!?…]$|^(?:i|i['’]m|my|we|you|he|she) |(?:^| )(?:나는?|난|저는?|내가|우리) "
    r"|(?:다|어|야|요|해|지|까|네)$",
    re.IGNORECASE,
)


def own_words(text: str) -> str:
    """`text` without the sentences in quotation marks and the lines that are sung."""
    return _SPAN.sub(_kept, _SUNG.sub(" ", text))


def _kept(match: re.Match[str]) -> str:
    inside = next(part for part in match.groups() if part is not None).strip()
    return " … " if " " in inside and _SENTENCE.search(inside) else match[0]
