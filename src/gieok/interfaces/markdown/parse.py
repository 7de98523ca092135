"""From Markdown to a decision record: Gieok's own form, and the forms that teams have (Nygard, MADR).

The title is the statement, the text below it the rationale, and the front matter says the rest. With
`statement` or `rationale` in the front matter, that is what it is, and the text holds only the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from gieok.engine.plan import first_problem, place
from gieok.errors import InputRefused
from gieok.interfaces.markdown.front_matter import FrontMatter, split, without
from gieok.interfaces.markdown.record import DecisionRecord
from gieok.interfaces.markdown.status import status_in, status_of
from gieok.memory.decisions.records import Strength

KEYS = frozenset(
    {"id", "status", "strength", "scope", "domain", "relations", "evidence", "statement", "rationale"}
)
"""What Gieok reads of a front matter. Other keys belong to other tools."""

_LISTS = frozenset({"relations", "evidence"})
_NUMBER = re.compile(r"(?:ADR[-\s]*)?\d{1,5}\s*[.:]\s+|ADR[-\s]*\d{1,5}\s*[-–—]\s+", re.IGNORECASE)
_TITLE = re.compile(r"#[ \t]+(.*)")
_UNDERLINE = re.compile(r"={2,}[ \t]*")
_CODE = re.compile(r"\s{0,3}(```|~~~)")


class Defaults(NamedTuple):
    """What a file that does not say it is taken to say. `domain` None is global."""

    strength: Strength = "normal"
    domain: str | None = None


DEFAULTS = Defaults()


class Beside(NamedTuple):
    """What a file has that is no part of the decision, and that its team or another tool wants to keep."""

    number: str = ""
    """Of the title, with the marks after it."""
    lines: Sequence[str] = ()
    """Of the front matter."""


def parse(text: str, defaults: Defaults = DEFAULTS) -> DecisionRecord:
    """The record that a file's text is. InputRefused says which part of it cannot be one."""
    front = _split(text)
    if wrong := KEYS & front.unread:
        raise InputRefused("must be one value, or a list of values", at=min(wrong))
    fields = _scalars(front)
    if "statement" in fields:
        statement, text = fields["statement"], front.body.strip("\n")
    else:
        title, text = _title(front.body)
        statement = title[len(_number(title)) :]
    if "rationale" in fields and text.strip():
        raise InputRefused("stands in the front matter and in the text; keep one of them", at="rationale")
    status = fields.get("status")
    given: dict[str, Any] = {
        "id": fields.get("id"),
        "status": status_of(status) if status else status_in(text) or "accepted",
        "statement": statement,
        "rationale": fields.get("rationale") or (text if text.strip() else None),
        "strength": fields.get("strength", defaults.strength).casefold(),
        "relations": _relations(front),
        "evidence_ids": _items(front, "evidence") or (),
        **_place(fields, defaults),
    }
    return _record(given)


def beside(text: str) -> Beside:
    """What a file that is a record has beside it."""
    front = _split(text)
    number = "" if "statement" in front.values else _number(_title(front.body)[0])
    return Beside(number, without(front.lines, KEYS))


def _split(text: str) -> FrontMatter:
    return split(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _scalars(front: FrontMatter) -> dict[str, str]:
    values: dict[str, str] = {}
    for key in (KEYS - _LISTS) & front.values.keys():
        value = front.values[key]
        if not isinstance(value, str):
            if value:
                raise InputRefused("must be one value", at=key)
            continue
        values[key] = value
    return values


def _place(fields: dict[str, str], defaults: Defaults) -> dict[str, str | None]:
    """Scope and domain. Either says the other."""
    scope, domain = fields.get("scope"), fields.get("domain")
    if scope is None:
        domain = domain or defaults.domain
        return {"scope": "domain" if domain else "global", "domain": domain}
    return {"scope": scope.casefold(), "domain": domain}


def _relations(front: FrontMatter) -> list[dict[str, str]] | None:
    lines = _items(front, "relations")
    if lines is None:
        return None
    relations: list[dict[str, str]] = []
    for line in lines:
        kind, _, target = line.strip().partition(" ")
        if not target:
            raise InputRefused("a relation is written `- DEPENDS_ON target`", at="relations")
        relations.append({"type": kind.upper().replace("-", "_"), "target": target})
    return relations


def _items(front: FrontMatter, key: str) -> tuple[str, ...] | None:
    """The values of a key, of which there may be only one; None where the key is not there."""
    value = front.values.get(key)
    return (value,) if isinstance(value, str) else value


def _record(given: dict[str, Any]) -> DecisionRecord:
    try:
        return DecisionRecord.model_validate(given, strict=False)
    except ValidationError as error:
        location, message = first_problem(error)
        at = place(location).replace("evidence_ids", "evidence") if location else "scope"
        raise InputRefused(message, at=at) from None


def _title(body: str) -> tuple[str, str]:
    """The first title in a text, and the text without it."""
    lines = body.split("\n")
    in_code = False
    for number, line in enumerate(lines):
        if _CODE.match(line):
            in_code = not in_code
        if in_code:
            continue
        found = _TITLE.fullmatch(line)
        if found:
            return _trimmed(found[1]), _joined(lines[:number], lines[number + 1 :])
        if line.strip() and number + 1 < len(lines) and _UNDERLINE.fullmatch(lines[number + 1]):
            return _trimmed(line), _joined(lines[:number], lines[number + 2 :])
    raise InputRefused("has no title; write the decision as `# …`, or as statement: in the front matter")


def _trimmed(title: str) -> str:
    """The title without its closing marks."""
    title = title.strip()
    words = title.rstrip("#")
    return words.rstrip() if not words or words[-1] in " \t" else title


def _number(title: str) -> str:
    """The number that a team gave a title, with the marks after it."""
    found = _NUMBER.match(title)
    return found[0] if found else ""


def _joined(above: list[str], below: list[str]) -> str:
    parts = ("\n".join(part).strip("\n") for part in (above, below))
    return "\n\n".join(part for part in parts if part.strip())
