"""A performance as lines for a terminal of 80 to 100 columns. It adds no fact of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from gieok.interfaces.cli.columns import pad, width, wrap
from gieok.interfaces.cli.demo.run import Exchange, Performance
from gieok.interfaces.cli.demo.story import Story

_COLUMNS = 92
_INDENT = "   "
_SHORT_HASH = 12
_SHOWN_BYTES = 24
_SHOWN_TOKENS = 3


def show(performance: Performance, kept: Path | None) -> Iterator[str]:
    """The whole performance, part by part. `kept` is where its files stay, if they do."""
    wording = performance.story.wording
    yield click.style(f"── {wording.title} " + "─" * 24, bold=True)
    yield from wrap(wording.lead, _COLUMNS)
    parts = (
        (wording.talk, _talk),
        (wording.disk, _disk),
        (wording.recall, _recall),
        (wording.atomic, _atomic),
        (wording.plan, _plan),
    )
    for number, (heading, lines) in enumerate(parts, start=1):
        yield ""
        yield click.style(f"{number}  {heading}", fg="cyan", bold=True)
        yield from lines(performance)
    yield ""
    yield click.style(wording.next, fg="cyan", bold=True)
    yield from _next_steps(performance.story)
    if kept is not None:
        yield _INDENT + wording.location.format(folder=kept)
    yield ""


def _next_steps(story: Story) -> Iterator[str]:
    wording = story.wording
    wide = max(width(command) for command, _ in wording.commands)
    for command, what in wording.commands:
        yield f"{_INDENT}{pad(command, wide)}  {what}"
    yield _INDENT + wording.code
    yield from (f"{_INDENT}  {line}" for line in story.snippet.splitlines())


def _talk(performance: Performance) -> Iterator[str]:
    for exchange in performance.first_day:
        yield from _exchange(performance.story, exchange)
    yield from _note(performance.story.wording.talk_note)


def _exchange(story: Story, exchange: Exchange) -> Iterator[str]:
    yield _said(story, story.wording.user, exchange.message)
    yield _said(story, story.character, exchange.result.reply or "")
    yield click.style(_said(story, story.wording.kept, f"→ {exchange.result.summary}"), fg="green")


def _said(story: Story, who: str, text: str) -> str:
    wide = max(width(name) for name in (story.wording.user, story.character, story.wording.kept))
    return f"{_INDENT}{pad(who, wide)}  {text}"


def _disk(performance: Performance) -> Iterator[str]:
    wording, row, found = performance.story.wording, performance.row, performance.scan
    yield _INDENT + wording.disk_lead
    tokens = ", ".join(f"{token & (2**64 - 1):016x}" for token in row.tokens[:_SHOWN_TOKENS])
    more = " …" if len(row.tokens) > _SHOWN_TOKENS else ""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=row.at)
    yield from _fields(
        {
            "id": str(row.id),
            "session_ref": row.session_ref,
            "at": f"{at:%Y-%m-%d %H:%M} UTC",
            "summary": f"{_hex(row.summary)} {wording.sealed.format(size=len(row.summary))}",
            "keywords": f"{_hex(row.keywords)} {wording.sealed.format(size=len(row.keywords))}",
            "index tokens": wording.tokens.format(count=len(row.tokens), tokens=tokens + more),
        }
    )
    yield from _indented(wording.scan.format(files=found.files, size=found.size))
    yield from _fields({text: wording.times.format(times=times) for text, times in found.found.items()})
    yield from _note(wording.control)
    yield from _note(wording.still_visible)


def _recall(performance: Performance) -> Iterator[str]:
    story, wording, second = performance.story, performance.story.wording, performance.second_day
    yield from _note(wording.recall_lead)
    yield _said(story, wording.user, second.message)
    for number, hit in enumerate(performance.hits, start=1):
        why = ", ".join(f"{word} → {term}" for word, term in hit.shared)
        rank = wording.rank.format(rank=number)
        yield click.style(f"{_INDENT}{rank}  {hit.summary} ({hit.at:%Y-%m-%d})", fg="green")
        yield f"{_INDENT}{' ' * width(rank)}  {why}"
    yield from _note(wording.recall_note)
    yield _INDENT + wording.prompt
    prompt = second.result.prompt
    if prompt is not None:
        yield from (f"{_INDENT}| {line}".rstrip() for line in prompt.system.splitlines())
        yield from (f"{_INDENT}| {message.role}: {message.content}" for message in prompt.messages)
    yield click.style(_said(story, story.character, second.result.reply or ""), bold=True)


def _atomic(performance: Performance) -> Iterator[str]:
    story, lost = performance.story, performance.lost
    wording = story.wording
    yield from _note(wording.atomic_lead)
    yield _said(story, wording.user, lost.message)
    yield _said(story, story.character, lost.reply)
    error = wording.error.format(
        kind=type(lost.error).__name__, step=lost.error.step, cause=type(lost.error.cause).__name__
    )
    yield click.style(_INDENT + error, fg="red")
    counts = ", ".join(f"{table} {lost.before[table]} → {lost.after[table]}" for table in lost.before)
    yield f"{_INDENT}{wording.rows}: {counts}"
    if lost.before == lost.after:
        yield _INDENT + wording.equal


def _plan(performance: Performance) -> Iterator[str]:
    wording, plan, changed = performance.story.wording, performance.plan, performance.changed
    record = performance.second_day.result.record
    took = {step.id: f"{step.duration_ms:6.1f} ms" for step in record.steps}
    yield _INDENT + wording.plan_lead.format(name=plan.name, version=plan.version, hash=_short(plan.hash))
    stage = ""
    for step in plan.steps:
        shown = "" if step.stage == stage else step.stage
        stage = step.stage
        yield f"{_INDENT}{shown:<16}{step.type:<17}{took[step.id]}  {_policy(step.metadata)}".rstrip()
    yield _INDENT + wording.total.format(total=record.duration_ms, commit=record.commit_ms)
    refusal = changed.refusal
    expected, actual = _short(refusal.expected), _short(refusal.actual)
    yield from _indented(wording.changed.format(old=changed.top_k, new=changed.changed_top_k))
    refused = wording.refused.format(kind=type(refusal).__name__, expected=expected, actual=actual)
    yield click.style(_INDENT + refused, fg="red")


def _fields(fields: Mapping[str, str]) -> Iterator[str]:
    wide = max(width(name) for name in fields)
    return (f"{_INDENT}  {pad(name, wide)}  {value}" for name, value in fields.items())


def _indented(text: str) -> Iterator[str]:
    return (_INDENT + line for line in wrap(text, _COLUMNS - len(_INDENT)))


def _note(text: str) -> Iterator[str]:
    return (click.style(line, dim=True) for line in _indented(text))


def _hex(sealed: bytes) -> str:
    return sealed[:_SHOWN_BYTES].hex() + "…"


def _short(plan_hash: str) -> str:
    return plan_hash[:_SHORT_HASH]


def _policy(metadata: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {json.dumps(value)}" for name, value in metadata.items())
