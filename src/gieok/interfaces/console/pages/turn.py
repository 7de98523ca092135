"""How one turn ran, as far as its cycle records are stored: what was recalled and why, what was learned, and
the steps of the turn and of its jobs with their times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from gieok.engine import CycleRecord, StepRecord
from gieok.errors import NotFound
from gieok.interfaces.console.page import Page, ReadPage
from gieok.interfaces.rest.schema.params import SessionPath, TurnPath
from gieok.memory.companion.steps.recall import RecallMemories
from gieok.memory.cycle_records import StoredCycle
from gieok.memory.jobs.records import Job
from gieok.memory.sessions.remembering import QueueRemembering
from gieok.memory.sessions.steps import QueueSummary

router = APIRouter(prefix="/sessions")


@dataclass(frozen=True)
class RecalledItem:
    """Something that a turn recalled. `text` is None if it was deleted since."""

    kind: str
    id: str
    text: str | None
    link: str | None
    confidence: str
    signals: tuple[str, ...]
    """The strongest ones first."""


@dataclass(frozen=True)
class JobRun:
    """A job that the turn has queued, and how it ran. None if its record is not stored."""

    job: Job
    cycle: StoredCycle | None


@router.get("/{id}/turns/{turnId}")
async def show(session_id: SessionPath, turn_id: TurnPath, page: ReadPage) -> Response:
    sessions = page.user.sessions
    session = (await sessions.get(session_id)).session
    messages = await sessions.turn(session_id, turn_id)
    if not messages:
        raise NotFound("no such turn")
    cycles = (await sessions.cycles(session_id, turn_id=turn_id, limit=1)).cycles
    cycle = cycles[0] if cycles else None
    runs = await _jobs(page, session_id, cycle) if cycle else []
    results = [await page.user.jobs.result(run.job.id) for run in runs]
    return page.render(
        "turn.html",
        session=session,
        messages=messages,
        cycle=cycle,
        recalled=await _recalled(page, session.persona_id or "", cycle) if cycle else [],
        runs=runs,
        changes=[change for result in results if result for change in result.changes if change.fact],
        dropped=[refusal for result in results if result for refusal in result.dropped],
        is_remembered=any(result is not None for result in results),
    )


def noted(step: StepRecord, name: str) -> list[str]:
    """The ids that a step has noted under this name."""
    value = step.notes.get(name, ())
    ids = () if isinstance(value, int | float | str) else cast("Sequence[object]", value)
    return [str(each) for each in ids]


def _steps(cycle: CycleRecord, *types: str) -> list[StepRecord]:
    return [step for step in cycle.steps if step.type in types]


async def _jobs(page: Page, session_ref: str, cycle: CycleRecord) -> list[JobRun]:
    """The jobs of a turn that still exist."""
    runs: list[JobRun] = []
    for step in _steps(cycle, QueueRemembering.type, QueueSummary.type):
        for job_id in map(UUID, noted(step, "jobs")):
            try:
                job = await page.user.jobs.get(job_id)
            except NotFound:
                continue
            found = (await page.user.sessions.cycles(session_ref, job_id=job_id, limit=1)).cycles
            runs.append(JobRun(job, found[0] if found else None))
    return runs


async def _recalled(page: Page, persona_id: str, cycle: CycleRecord) -> list[RecalledItem]:
    items: list[RecalledItem] = []
    for step in _steps(cycle, RecallMemories.type):
        columns = [noted(step, name) for name in ("kinds", "recalled", "sessions", "confidence", "signals")]
        for kind, identity, session_ref, confidence, signals in zip(*columns, strict=False):
            text, link = await _find(page, persona_id, kind, identity, session_ref)
            names = () if signals == "none" else tuple(signals.split("+"))
            items.append(RecalledItem(kind, identity, text, link, confidence, names))
    return items


async def _find(
    page: Page, persona_id: str, kind: str, identity: str, session_ref: str
) -> tuple[str | None, str | None]:
    """The text of what was recalled as it is now, and where it is shown. None for both if it was deleted."""
    try:
        if kind == "memory":
            return (await page.user.companion.get(UUID(identity))).summary, f"/console/memories/{identity}"
        if kind == "fact":
            latest = (await page.user.canon.history(persona_id, UUID(identity)))[-1]
            return f"{latest.key}: {latest.value}", f"/console/facts/{quote(persona_id, safe='')}"
        messages = await page.user.sessions.turn(session_ref, identity)
    except NotFound:
        return None, None
    link = f"/console/sessions/{quote(session_ref, safe='')}?message={quote(identity, safe='')}#marked"
    return (messages[0].content, link) if messages else (None, None)
