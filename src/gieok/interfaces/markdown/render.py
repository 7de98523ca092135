"""From a decision record to Markdown that reads back as the same record.

No time stands in it: the text changes when the decision does, and never otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from gieok.errors import InputRefused
from gieok.interfaces.markdown.front_matter import quoted
from gieok.interfaces.markdown.parse import Beside, parse
from gieok.interfaces.markdown.record import DecisionRecord

NOTHING = Beside()


def render(record: DecisionRecord, beside: Beside = NOTHING) -> str:
    """The text of a record's file: a title and text where they say it exactly, quoted values otherwise."""
    for quote in ((), ("statement",), ("rationale",)):
        text = _written(record, quote, beside)
        if _reads_back(text, record):
            return text
    return _written(record, ("statement", "rationale"), beside)


def _reads_back(text: str, record: DecisionRecord) -> bool:
    try:
        return parse(text) == record
    except InputRefused:
        return False


def _written(record: DecisionRecord, quote: tuple[str, ...], beside: Beside) -> str:
    parts = ["\n".join(["---", *_front(record, quote), *beside.lines, "---"])]
    if "statement" not in quote:
        parts.append(f"# {beside.number}{record.statement}")
    if record.rationale is not None and "rationale" not in quote:
        parts.append(record.rationale)
    return "\n\n".join(parts) + "\n"


def _front(record: DecisionRecord, quote: tuple[str, ...]) -> Iterator[str]:
    if record.id is not None:
        yield f"id: {_plain(record.id)}"
    yield f"status: {record.status}"
    yield f"strength: {record.strength}"
    yield f"scope: {record.scope}"
    if record.domain is not None:
        yield f"domain: {record.domain}"
    if record.relations is not None:
        relations = [_plain(f"{relation.type} {relation.target}") for relation in record.relations]
        yield from _list("relations", relations)
    if record.evidence_ids:
        yield from _list("evidence", [str(evidence) for evidence in record.evidence_ids])
    if "statement" in quote:
        yield f"statement: {quoted(record.statement)}"
    if "rationale" in quote and record.rationale is not None:
        yield f"rationale: {quoted(record.rationale)}"


def _list(key: str, items: list[str]) -> Iterator[str]:
    if not items:
        yield f"{key}: []"
        return
    yield f"{key}:"
    yield from (f"  - {item}" for item in items)


def _plain(value: str) -> str:
    """A value as it is where nothing in it could mean something else."""
    return value if all(character.isalnum() or character in "-_./ " for character in value) else quoted(value)
