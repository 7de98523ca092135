"""One Markdown file as a decision record: `parse` reads it, `render` writes it.

The title is the statement, the text below it is the rationale, and the front matter has the rest. Instead of
title and text, the front matter may have `statement` and `rationale`. The common ADR formats (Nygard, MADR)
are read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints, ValidationError

from gieok.engine import Data
from gieok.engine.plan import first_problem, place
from gieok.errors import InputRefused
from gieok.interfaces.markdown.front_matter import FrontMatter, plain_or_quoted, quoted, split
from gieok.memory.decisions.exchange import MAX_RELATIONS
from gieok.memory.decisions.records import DecisionContent, RelationType, Strength
from gieok.memory.fields import storable

KEYS = frozenset(
    {"id", "status", "strength", "scope", "domain", "relations", "evidence", "statement", "rationale"}
)
"""The keys of the front matter that Gieok reads. Other keys belong to other tools."""

_LIST_KEYS = frozenset({"relations", "evidence"})

Status = Literal["proposed", "accepted", "rejected", "deprecated", "superseded"]

STATUS_WORDS: dict[Status, Sequence[str]] = {
    "proposed": (
        *("proposed", "proposal", "draft", "pending", "open", "wip", "review", "discussion"),
        *("제안", "제안됨", "초안", "검토", "논의", "보류"),
    ),
    "accepted": (
        *("accepted", "approved", "adopted", "agreed", "decided", "active", "implemented", "done"),
        *("승인", "승인됨", "채택", "채택됨", "확정", "결정", "결정됨", "적용", "적용됨", "구현"),
    ),
    "rejected": ("rejected", "declined", "거부", "거부됨", "거절", "기각", "기각됨", "반려", "반려됨"),
    "deprecated": ("deprecated", "retired", "obsolete", "withdrawn", "폐기", "폐기됨", "철회", "철회됨"),
    "superseded": ("superseded", "superceded", "replaced", "대체", "대체됨"),
}
"""The words that teams use for each status, in the order of a record's life cycle."""

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$"),
    AfterValidator(storable),
]
"""A decision's id, a name that the team gave it, or a file: one line, without control characters."""


class NamedRelation(Data):
    """A relation from the file's decision to another one, which is given by name."""

    type: RelationType
    target: Name


class DecisionRecord(DecisionContent):
    """A decision as a file describes it.

    With `relations` None the file says nothing about relations; () means that there are none.
    """

    id: Name | None = None
    status: Status = "accepted"
    relations: Annotated[tuple[NamedRelation, ...], Field(max_length=MAX_RELATIONS)] | None = None


class Defaults(NamedTuple):
    """Values for a file without its own. `domain` None means global."""

    strength: Strength = "normal"
    domain: str | None = None


class Extras(NamedTuple):
    """The parts of a file that are not part of the decision and must survive a rewrite."""

    number: str = ""
    """The number before the title, with its punctuation."""
    lines: Sequence[str] = ()
    """Front matter lines of other tools, and comments."""


DEFAULTS = Defaults()
NO_EXTRAS = Extras()


# --- Reading ---

_NUMBER = re.compile(r"(?:ADR[-\s]*)?\d{1,5}\s*[.:]\s+|ADR[-\s]*\d{1,5}\s*[-–—]\s+", re.IGNORECASE)
_TITLE = re.compile(r"#[ \t]+(.*)")
_UNDERLINE = re.compile(r"={2,}[ \t]*")
_CODE_FENCE = re.compile(r"\s{0,3}(```|~~~)")


def parse(text: str, defaults: Defaults = DEFAULTS) -> DecisionRecord:
    """The record in a file's text. InputRefused says what is wrong with it."""
    front = _split(text)
    if wrong := KEYS & front.nested:
        raise InputRefused("must be one value, or a list of values", at=min(wrong))
    fields = _single_values(front)
    if "statement" in fields:
        statement, text = fields["statement"], front.body.strip("\n")
    else:
        title, text = _split_title(front.body)
        statement = title[len(_title_number(title)) :]
    if "rationale" in fields and text.strip():
        raise InputRefused("is both in the front matter and in the text; keep one of them", at="rationale")
    status = fields.get("status")
    values: dict[str, Any] = {
        "id": fields.get("id"),
        "status": parse_status(status) if status else _status_in(text) or "accepted",
        "statement": statement,
        "rationale": fields.get("rationale") or (text if text.strip() else None),
        "strength": fields.get("strength", defaults.strength).casefold(),
        "relations": _relations(front),
        "evidence_ids": _list(front, "evidence") or (),
        **_scope_and_domain(fields, defaults),
    }
    try:
        return DecisionRecord.model_validate(values, strict=False)
    except ValidationError as error:
        location, message = first_problem(error)
        at = place(location).replace("evidence_ids", "evidence") if location else "scope"
        raise InputRefused(message, at=at) from None


def parse_extras(text: str) -> Extras:
    """The parts of a record's file that are not part of the decision."""
    front = _split(text)
    number = "" if "statement" in front.values else _title_number(_split_title(front.body)[0])
    return Extras(number, front.lines_without(KEYS))


def _split(text: str) -> FrontMatter:
    return split(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _single_values(front: FrontMatter) -> dict[str, str]:
    values: dict[str, str] = {}
    for key in (KEYS - _LIST_KEYS) & front.values.keys():
        value = front.values[key]
        if isinstance(value, str):
            values[key] = value
        elif value:
            raise InputRefused("must be one value", at=key)
    return values


def _list(front: FrontMatter, key: str) -> tuple[str, ...] | None:
    """The values of a key, which may be a list or a single value; None without the key."""
    value = front.values.get(key)
    return (value,) if isinstance(value, str) else value


def _scope_and_domain(fields: dict[str, str], defaults: Defaults) -> dict[str, str | None]:
    """Each follows from the other where only one is given."""
    scope, domain = fields.get("scope"), fields.get("domain")
    if scope is None:
        domain = domain or defaults.domain
        return {"scope": "domain" if domain else "global", "domain": domain}
    return {"scope": scope.casefold(), "domain": domain}


def _relations(front: FrontMatter) -> list[dict[str, str]] | None:
    items = _list(front, "relations")
    if items is None:
        return None
    relations: list[dict[str, str]] = []
    for item in items:
        relation_type, _, target = item.strip().partition(" ")
        if not target:
            raise InputRefused("a relation is written `- DEPENDS_ON target`", at="relations")
        relations.append({"type": relation_type.upper().replace("-", "_"), "target": target})
    return relations


def _split_title(body: str) -> tuple[str, str]:
    """The first heading of a text, and the text without it."""
    lines = body.split("\n")
    in_code = False
    for number, line in enumerate(lines):
        if _CODE_FENCE.match(line):
            in_code = not in_code
        if in_code:
            continue
        if heading := _TITLE.fullmatch(line):
            return _without_closing_marks(heading[1]), _join(lines[:number], lines[number + 1 :])
        if line.strip() and number + 1 < len(lines) and _UNDERLINE.fullmatch(lines[number + 1]):
            return _without_closing_marks(line), _join(lines[:number], lines[number + 2 :])
    raise InputRefused("has no title; write the decision as `# …`, or as statement: in the front matter")


def _without_closing_marks(title: str) -> str:
    """`The title #` is `The title`."""
    title = title.strip()
    words = title.rstrip("#")
    return words.rstrip() if not words or words[-1] in " \t" else title


def _title_number(title: str) -> str:
    """The number before a title, with its punctuation: `ADR-7: `."""
    number = _NUMBER.match(title)
    return number[0] if number else ""


def _join(above: list[str], below: list[str]) -> str:
    parts = ("\n".join(part).strip("\n") for part in (above, below))
    return "\n\n".join(part for part in parts if part.strip())


# --- Status ---

_STATUS_HEADING = re.compile(r"#{2,6}\s+(?:\d+\.\s*)?(?:status|상태)\s*#*", re.IGNORECASE)
_STATUS_LINE = re.compile(r"(?:[*-]\s+)?[*_]*(?:status|상태)[*_]*\s*:(.+)", re.IGNORECASE)
# A record that replaced another one is in force. Only one that was replaced *by* another is not.
_REPLACED_ANOTHER = re.compile(r"\b(?:superseded|superceded|replaced)(?!\s+by\b)(?=\s+[^\W\d])")
_REPLACED_BY = re.compile(r"\W*(?:superseded|superceded|replaced)\s+by\b")


def parse_status(text: str) -> Status:
    """The status in the first line that names one; of several in that line, the latest of the life cycle.

    A separate line "Superseded by …" always wins. InputRefused for an unknown status.
    """
    lines = text.casefold().split("\n")
    if any(map(_REPLACED_BY.match, lines)):
        return "superseded"
    for line in lines:
        words = set(re.findall(r"\w+", _REPLACED_ANOTHER.sub("", line)))
        for status, status_words in reversed(STATUS_WORDS.items()):
            if words.intersection(status_words):
                return status
    raise InputRefused(f"its status is unknown; use one of {', '.join(STATUS_WORDS)}")


def _status_in(body: str) -> Status | None:
    """The status in a section of its own, or in a line above the first section."""
    lines = body.split("\n")
    for number, line in enumerate(lines):
        if _STATUS_HEADING.fullmatch(line.strip()):
            section = lines[number + 1 :]
            end = next((at for at, below in enumerate(section) if below.startswith("#")), len(section))
            return parse_status("\n".join(section[:end]))
    for line in lines:
        if line.startswith("##"):
            break
        if status := _STATUS_LINE.fullmatch(line.strip()):
            return parse_status(status[1])
    return None


# --- Writing ---


def render(record: DecisionRecord, extras: Extras = NO_EXTRAS) -> str:
    """The text of a record's file, such that `parse` returns the same record.

    Statement and rationale are title and text where those can express them exactly, and quoted values of the
    front matter otherwise. No time is written, so that the text changes only with the decision.
    """
    for quote in ((), ("statement",), ("rationale",)):
        text = _render(record, quote, extras)
        try:
            if parse(text) == record:
                return text
        except InputRefused:
            continue
    return _render(record, ("statement", "rationale"), extras)


def _render(record: DecisionRecord, quote: tuple[str, ...], extras: Extras) -> str:
    parts = ["\n".join(["---", *_front_matter(record, quote), *extras.lines, "---"])]
    if "statement" not in quote:
        parts.append(f"# {extras.number}{record.statement}")
    if record.rationale is not None and "rationale" not in quote:
        parts.append(record.rationale)
    return "\n\n".join(parts) + "\n"


def _front_matter(record: DecisionRecord, quote: tuple[str, ...]) -> Iterator[str]:
    if record.id is not None:
        yield f"id: {plain_or_quoted(record.id)}"
    yield f"status: {record.status}"
    yield f"strength: {record.strength}"
    yield f"scope: {record.scope}"
    if record.domain is not None:
        yield f"domain: {record.domain}"
    if record.relations is not None:
        relations = [plain_or_quoted(f"{each.type} {each.target}") for each in record.relations]
        yield from _render_list("relations", relations)
    if record.evidence_ids:
        yield from _render_list("evidence", [str(evidence) for evidence in record.evidence_ids])
    if "statement" in quote:
        yield f"statement: {quoted(record.statement)}"
    if "rationale" in quote and record.rationale is not None:
        yield f"rationale: {quoted(record.rationale)}"


def _render_list(key: str, items: list[str]) -> Iterator[str]:
    if not items:
        yield f"{key}: []"
        return
    yield f"{key}:"
    yield from (f"  - {item}" for item in items)
