"""The list of memories: search as you type, filters, and changes of several memories at once.

Search words, tags and topics are content, so they are sent in the body of a form and never in a URL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, get_args
from uuid import UUID
from zoneinfo import ZoneInfo

from fastapi import APIRouter
from starlette.responses import Response

from gieok.errors import MemoryLimitReached, NotFound
from gieok.interfaces.console.page import Page, ReadPage, WritePage
from gieok.memory.companion.filters import MemoryFilter
from gieok.memory.companion.hits import MemoryHit
from gieok.memory.companion.records import Emotion, Memory, Origin
from gieok.memory.companion.store import MemoryStatus
from gieok.memory.profile import zone

router = APIRouter(prefix="/memories")

PAGE_SIZE = 25
MOST_PERSONAS = 50
"""How many personas a search without a persona looks through."""
MOST_MONTHS = 60
"""Months of the histogram."""
_STATUSES: tuple[MemoryStatus, ...] = get_args(MemoryStatus)
_ORIGINS: tuple[Origin, ...] = get_args(Origin)
_IN_URL = ("persona", "status", "origin", "emotion", "from", "to")
"""Filters that contain nothing that anyone has said."""


@dataclass(frozen=True)
class Wanted:
    """What the form asks for, as it was filled in, and the errors beside its fields."""

    values: Mapping[str, str]
    status: MemoryStatus = "active"
    filter: MemoryFilter = field(default_factory=MemoryFilter)
    offset: int = 0
    errors: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def persona_id(self) -> str | None:
        return self.values["persona"] or None

    @property
    def query(self) -> str:
        return self.values["q"]

    @property
    def is_filtered(self) -> bool:
        return any(value for name, value in self.values.items() if name != "persona")


@router.get("")
async def show(page: ReadPage) -> Response:
    given = {name: page.query.get(name, "") for name in _IN_URL}
    return await _show(page, _wanted(page, given, page.query.get("offset", "")))


@router.post("")
async def search(page: ReadPage) -> Response:
    """The same with search words, a tag or a topic. htmx asks for the results only."""
    names = (*_IN_URL, "q", "tag", "topic")
    given = {name: page.form.get(name) for name in names}
    return await _show(page, _wanted(page, given, page.form.get("offset")))


@router.post("/bulk")
async def bulk(page: WritePage) -> Response:
    """Archive, restore or delete the ticked memories. Deleting asks once more."""
    action = page.form.get("action")
    ids = [memory_id for each in page.form.all("id") if (memory_id := _uuid(each))]
    back = {"persona": page.form.get("persona"), "status": page.form.get("status")}
    if not ids or action not in ("archive", "restore", "delete"):
        wanted = _wanted(page, back, "")
        return await _show(page, replace(wanted, errors={"bulk": page.t("memories.bulk.none")}))
    if action == "delete" and not page.form.get("confirmed"):
        return page.render("memories_delete.html", ids=ids, back=back)
    count, done = await _change(page, action, ids)
    return page.redirect("memories", done=done, count=str(count), **back)


async def _change(page: Page, action: str, ids: Sequence[UUID]) -> tuple[int, str]:
    """Change each memory. One that is gone already is not counted. Returns how many, and what to say."""
    companion = page.user.companion
    count = 0
    for memory_id in ids:
        try:
            if action == "archive":
                await companion.archive(memory_id)
            elif action == "restore":
                await companion.restore(memory_id, account_plan=page.principal.account_plan)
            else:
                await companion.delete(memory_id)
        except NotFound:
            continue
        except MemoryLimitReached:
            return count, "limit"
        count += 1
    return count, {"archive": "archived", "restore": "restored", "delete": "deleted"}[action]


async def _show(page: Page, wanted: Wanted) -> Response:
    found = await _find(page, wanted)
    template = "memories_results.html" if page.is_fragment else "memories.html"
    return page.render(
        template,
        wanted=wanted,
        personas=[] if page.is_fragment else await page.user.personas.list(),
        months=[] if page.is_fragment else _months(await page.user.companion.days(wanted.persona_id)),
        emotions=list(Emotion),
        origins=_ORIGINS,
        statuses=_STATUSES,
        **found,
    )


@dataclass(frozen=True)
class Month:
    """A bar of the histogram: its memories, and its place and height as shares of the whole."""

    first: date
    last: date
    count: int
    start: float
    width: float
    height: float


def _months(days: Sequence[tuple[date, int]]) -> list[Month]:
    """The memories by month, from the first to the last one; the newest months if there are many."""
    counts: dict[date, int] = {}
    for day, count in days:
        month = day.replace(day=1)
        counts[month] = counts.get(month, 0) + count
    if not counts:
        return []
    months = [min(counts)]
    while months[-1] < max(counts):
        months.append((months[-1] + timedelta(days=31)).replace(day=1))
    months, most = months[-MOST_MONTHS:], max(counts.values())
    return [
        Month(
            first=month,
            last=(month + timedelta(days=31)).replace(day=1) - timedelta(days=1),
            count=counts.get(month, 0),
            start=number / len(months),
            width=1 / len(months),
            height=counts.get(month, 0) / most,
        )
        for number, month in enumerate(months)
    ]


async def _find(page: Page, wanted: Wanted) -> dict[str, Any]:
    """The memories to list, or the hits of a search that pass the filters."""
    if wanted.errors:
        return {"memories": [], "hits": None, "total": 0, "first": 0, "last": 0, "degraded": ()}
    companion = page.user.companion
    if wanted.query:
        personas = [wanted.persona_id] if wanted.persona_id else await _persona_ids(page)
        found = [await companion.search(persona_id, wanted.query) for persona_id in personas]
        hits = [hit for each in found for hit in each if _passes(hit.memory, wanted)]
        if len(found) > 1:  # scores of two personas cannot be compared, confidences can
            hits.sort(key=lambda hit: (-hit.confidence, -hit.score))
        degraded = sorted({part for each in found for part in each.degraded})
        return _slice(hits, wanted) | {"memories": [], "degraded": degraded}
    listed = await companion.list(
        wanted.persona_id, status=wanted.status, wanted=wanted.filter, limit=PAGE_SIZE, offset=wanted.offset
    )
    return {
        "memories": listed.memories,
        "hits": None,
        "total": listed.total,
        "first": min(wanted.offset + 1, listed.total),
        "last": wanted.offset + len(listed.memories),
        "degraded": (),
    }


async def _persona_ids(page: Page) -> list[str]:
    """The personas that a search without a persona looks through."""
    return [persona.id for persona in await page.user.personas.list(limit=MOST_PERSONAS)]


def _slice(hits: Sequence[MemoryHit], wanted: Wanted) -> dict[str, Any]:
    page = hits[wanted.offset : wanted.offset + PAGE_SIZE]
    return {
        "hits": page,
        "total": len(hits),
        "first": min(wanted.offset + 1, len(hits)),
        "last": wanted.offset + len(page),
    }


def _passes(memory: Memory, wanted: Wanted) -> bool:
    """Whether a hit passes the filters. A search finds archived memories too, unless a status was chosen."""
    is_archived = memory.archived_at is not None
    if wanted.values["status"] and wanted.status != "all" and is_archived != (wanted.status == "archived"):
        return False
    return wanted.filter.matches(memory)


def _wanted(page: Page, given: Mapping[str, str], offset: str) -> Wanted:
    """The filters of a form. A value that is wrong is named beside its field."""
    values = {name: given.get(name, "") for name in (*_IN_URL, "q", "tag", "topic")}
    errors: dict[str, str] = {}
    for name, limit in (("q", 4_000), ("tag", 128), ("topic", 128)):
        if len(values[name]) > limit:
            errors[name] = page.t("field.too_long", limit=limit)
    here = zone(page.viewer.timezone)
    since, until = (_day(page, values, name, errors, here) for name in ("from", "to"))
    if errors:
        return Wanted(values, errors=errors)
    return Wanted(
        values=values,
        status=values["status"] if values["status"] in _STATUSES else "active",
        filter=MemoryFilter(
            tag=values["tag"] or None,
            topic=values["topic"] or None,
            emotion=Emotion(values["emotion"]) if values["emotion"] in set(Emotion) else None,
            origin=values["origin"] if values["origin"] in _ORIGINS else None,
            since=since,
            until=until + timedelta(days=1) if until else None,
        ),
        offset=int(offset) if offset.isdigit() and len(offset) < 9 else 0,
    )


def _day(
    page: Page, values: Mapping[str, str], name: str, errors: dict[str, str], here: ZoneInfo
) -> datetime | None:
    """The begin of a day on the user's clock."""
    if not values[name]:
        return None
    try:
        return datetime.combine(date.fromisoformat(values[name]), time(), here).astimezone(UTC)
    except (ValueError, OverflowError):
        errors[name] = page.t("field.day")
        return None


def _uuid(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None
