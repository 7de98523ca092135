"""The service for its operator: jobs of all owners and their counts, never content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from fastapi import APIRouter
from starlette.responses import Response

from gieok.interfaces.console.page import OperatorPage
from gieok.memory.jobs.records import JobKind, JobStatus, ServiceJobs

router = APIRouter(prefix="/operator")

PAGE_SIZE = 50
_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
_KINDS: tuple[JobKind, ...] = get_args(JobKind)


@router.get("")
async def show(page: OperatorPage) -> Response:
    given = page.query.get("status", "")
    status = given if given in _STATUSES else None
    cursor = page.query.get("cursor") or None
    found = await page.gieok.jobs(status=status, limit=PAGE_SIZE, cursor=cursor)
    return page.render(
        "operator.html", found=found, counts=_table(found), statuses=_STATUSES, wanted=status or ""
    )


def _table(found: ServiceJobs) -> Mapping[JobKind, Mapping[JobStatus, int]]:
    """The counts by kind and status, of the kinds that there are."""
    counts = {(each.kind, each.status): each.count for each in found.counts}
    return {
        kind: {status: counts.get((kind, status), 0) for status in _STATUSES}
        for kind in _KINDS
        if any(each.kind == kind for each in found.counts)
    }
