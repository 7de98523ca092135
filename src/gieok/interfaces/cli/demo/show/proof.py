"""What the talk left on disk, what a decision reaches, what a killed turn left, and the plan that ran."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sized
from datetime import UTC, datetime, timedelta
from typing import cast

import click

from gieok.engine import CycleRecord, ExecutionPlan
from gieok.interfaces.cli.columns import pad
from gieok.interfaces.cli.decision.drawing import labels, tree
from gieok.interfaces.cli.demo.deciding import BlastRadius
from gieok.interfaces.cli.demo.disk import Scan, StoredMemory
from gieok.interfaces.cli.demo.plug import PulledPlug
from gieok.interfaces.cli.demo.show.lines import INDENT, fields, indented, joined, note
from gieok.interfaces.cli.demo.show.talk import said
from gieok.interfaces.cli.demo.story import Story
from gieok.interfaces.cli.wording import Say
from gieok.memory.companion.steps_reading import RecallMemories

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT_HASH = 12
_SHOWN_BYTES = 20
_SHOWN_TOKENS = 2


def show_disk(row: StoredMemory, found: Scan, say: Say) -> Iterator[str]:
    yield from note(say("disk.lead"))
    at = _EPOCH + timedelta(microseconds=row.occurred_at)
    tokens = " ".join(f"{token & (2**64 - 1):016x}" for token in row.tokens[:_SHOWN_TOKENS])
    columns = {
        "id": str(row.id),
        "owner, persona": f"{row.owner}, {row.persona_id}",
        "occurred_at": f"{at:%Y-%m-%d %H:%M} UTC",
        "importance": str(row.importance),
        "content": say("disk.sealed", hex=row.content[:_SHOWN_BYTES].hex(), size=len(row.content)),
        "index": say("disk.tokens", tokens=tokens, count=len(row.tokens)),
    }
    yield from (click.style(line, fg="yellow") for line in fields(columns))
    yield from note(say("disk.scan", files=found.files, size=found.size))
    yield from joined([f"{text} {times}" for text, times in found.found.items()], "  ")
    yield from note(say("disk.control"))


def show_radius(radius: BlastRadius, say: Say) -> Iterator[str]:
    yield from note(say("decide.lead"))
    for line in tree(radius.impact, labels(radius.decisions)):
        picture, _, _ = line.rpartition("  ")  # the root id: too long here, and no use
        yield f"{INDENT}{picture}"
    reached = radius.impact.nodes
    far = max((node.distance for node in reached), default=0)
    yield from note(say("decide.reached", reached=len(reached), others=len(radius.decisions) - 1, far=far))


def show_plug(story: Story, pulled: PulledPlug, say: Say) -> Iterator[str]:
    death = pulled.death
    yield from note(say("plug.lead"))
    yield from said(story, say, pulled.message, death.reply)
    for line in indented(say("plug.dead", ended_by=death.ended_by, messages=death.messages)):
        yield click.style(line, fg="red", bold=True)
    changed = sum(pulled.before[table] != pulled.after.get(table) for table in pulled.before)
    yield from note(say("plug.changed", changed=changed, tables=len(pulled.before)))
    written = [table for table in pulled.again if pulled.again[table] != pulled.after[table]]
    counts = [
        f"{table} {pulled.before[table]} → {pulled.after[table]} → {pulled.again[table]}" for table in written
    ]
    yield from joined(counts, "  ")


def show_plan(plan: ExecutionPlan, record: CycleRecord, say: Say) -> Iterator[str]:
    yield from note(say("plan.lead", name=plan.name, version=plan.version, hash=plan.hash[:_SHORT_HASH]))
    took = {step.id: f"{step.duration_ms:.1f}" for step in record.steps}
    stages: dict[str, list[str]] = {}
    for step in plan.steps:
        stages.setdefault(step.stage, []).append(f"{step.type} {took[step.id]}")
    stages["commit"] = [f"{record.commit_ms:.1f}", say("plan.total", total=record.duration_ms)]
    wide = max(map(len, stages))
    for stage, steps in stages.items():
        yield from joined(steps, f"{pad(stage, wide)}  ")
    recall = next(step for step in plan.steps if step.type == RecallMemories.type)
    yield from indented(f"{recall.type} {_policy(recall.metadata)}", f"{pad(say('plan.policy'), wide)}  ")


def _policy(metadata: Mapping[str, object]) -> str:
    """What a plan says about a step; of what has parts itself, only how many."""
    return ", ".join(f"{name} {_short(value)}" for name, value in metadata.items())


def _short(value: object) -> str:
    return f"({len(cast(Sized, value))})" if isinstance(value, Mapping) else json.dumps(value)
