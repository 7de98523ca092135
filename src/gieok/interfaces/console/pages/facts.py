"""What is true between the user and a persona: now, as of any day, and how each fact has changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from fastapi import APIRouter
from starlette.responses import Response

from gieok.errors import InputRefused
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.interfaces.rest.schema.params import FactPath, PersonaPath
from gieok.memory.canon.records import Fact, FactVersion, PersonaCard
from gieok.memory.canon.steps import LoadedState
from gieok.memory.observations import MAX_KEY_CHARS, MAX_VALUE_CHARS, Category
from gieok.memory.profile import day_of, zone

router = APIRouter(prefix="/facts")

THINNEST = 0.004
"""The share of a timeline that even the shortest version has, so that it can be seen."""
_FIELDS = ("category", "key", "value", "importance")


@dataclass(frozen=True)
class Span:
    """One version in a timeline: its begin and its width as shares of the whole time."""

    version: FactVersion
    ended_at: datetime | None
    start: float
    width: float


@dataclass(frozen=True)
class Change:
    """A fact that differs between the chosen day and now."""

    before: Fact | None
    after: Fact | None


@router.get("")
async def choose(page: ReadPage) -> Response:
    """The facts of the first persona."""
    personas = await page.user.personas.list(limit=1)
    if not personas:
        return page.render("chat_empty.html")
    return page.redirect("facts", personas[0].id)


@router.get("/{id}")
async def show(persona_id: PersonaPath, page: ReadPage) -> Response:
    """The state now, or at the end of the day in the URL."""
    return await _show(page, await page.user.personas.get(persona_id))


@router.post("/{id}")
async def set_fact(persona_id: PersonaPath, page: WritePage) -> Response:
    """Set a fact by hand. It supersedes the one with that key."""
    persona = await page.user.personas.get(persona_id)
    values = {name: page.form.get(name) for name in _FIELDS}
    errors = _errors(page, values)
    if not errors:
        try:
            await page.user.canon.set_fact(
                persona_id,
                values["category"],
                values["key"],
                values["value"],
                importance=int(values["importance"]) if values["importance"] else None,
            )
        except InputRefused as refused:
            errors = {refused.at or "key": str(refused)}
    if errors:
        return await _show(page, persona, 422, values, errors)
    return page.redirect("facts", persona_id, done="fact_set")


@router.post("/{id}/{rootId}/retire")
async def retire(persona_id: PersonaPath, root_id: FactPath, page: WritePage) -> Response:
    """The fact no longer applies. Its history stays."""
    await page.user.canon.retire_fact(persona_id, root_id)
    return page.redirect("facts", persona_id, done="fact_retired")


def _errors(page: Page, values: dict[str, str]) -> dict[str, str]:
    errors: dict[str, str] = {}
    for name, limit in (("key", MAX_KEY_CHARS), ("value", MAX_VALUE_CHARS)):
        if not values[name]:
            errors[name] = page.t("field.required")
        elif len(values[name]) > limit:
            errors[name] = page.t("field.too_long", limit=limit)
    importance = values["importance"]
    if importance and not (importance.isdigit() and 1 <= int(importance[:4]) <= 10):
        errors["importance"] = page.t("field.range", low=1, high=10)
    if values["category"] not in set(Category):
        errors["category"] = page.t("field.required")
    return errors


async def _show(
    page: Page,
    persona: PersonaCard,
    status: int = 200,
    values: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    canon, now = page.user.canon, page.gieok.engine.clock()
    timelines = await canon.timelines(persona.id)
    today = day_of(now, page.viewer.timezone)
    begins = [versions[0].valid_from for versions in timelines]
    first = min([day_of(each, page.viewer.timezone) for each in begins], default=today)
    day = _day(page.query.get("day", ""), first, today)
    current = await canon.state(persona.id)
    shown = current if day == today else await canon.state(persona.id, as_of=_end_of(day, page))
    template = "facts_state.html" if page.is_fragment else "facts.html"
    return page.render(
        template,
        status,
        persona=persona,
        personas=[] if page.is_fragment else await page.user.personas.list(),
        first=first,
        today=today,
        day=day,
        state=shown,
        facts=(*shown.facts, *shown.others),
        changes=_changes(shown, current) if day != today else [],
        timelines=[_spans(versions, min(begins), now) for versions in timelines],
        categories=list(Category),
        values=values or dict.fromkeys(_FIELDS, ""),
        errors=errors or {},
    )


def _day(ordinal: str, first: date, today: date) -> date:
    """The chosen day, within the days of the slider; today if there is none."""
    if not ordinal.isdigit() or len(ordinal) > 7:
        return today
    return date.fromordinal(min(max(int(ordinal), first.toordinal()), today.toordinal()))


def _end_of(day: date, page: Page) -> datetime:
    """The last moment of a day on the user's clock."""
    next_day = datetime.combine(day + timedelta(days=1), time(), zone(page.viewer.timezone))
    return next_day.astimezone(UTC) - timedelta(microseconds=1)


def _changes(before: LoadedState, after: LoadedState) -> list[Change]:
    """The facts that are new, changed or gone since then."""
    then = {fact.root_id: fact for fact in (*before.facts, *before.others)}
    now = {fact.root_id: fact for fact in (*after.facts, *after.others)}
    roots = [*then, *(root for root in now if root not in then)]
    changes = [Change(then.get(root), now.get(root)) for root in roots]
    return [
        change
        for change in changes
        if change.before is None or change.after is None or change.before.version != change.after.version
    ]


def _spans(versions: Sequence[FactVersion], first: datetime, now: datetime) -> list[Span]:
    """The versions of a fact on a scale from the first fact of all to now."""
    whole = max((now - first).total_seconds(), 1.0)
    spans: list[Span] = []
    for number, version in enumerate(versions):
        following = versions[number + 1].valid_from if number + 1 < len(versions) else None
        ended_at = version.retired_at or following
        start = (version.valid_from - first).total_seconds() / whole
        width = max(((ended_at or now) - version.valid_from).total_seconds() / whole, THINNEST)
        spans.append(Span(version, ended_at, min(start, 1 - THINNEST), width))
    return spans
