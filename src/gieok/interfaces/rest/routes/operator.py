"""What concerns the service as a whole. Needs a token with the scope `operator`; no content is shown."""

from __future__ import annotations

from typing import cast

from fastapi import APIRouter, Request

from gieok.app import Gieok
from gieok.interfaces.rest.gateway.body import JsonRoute
from gieok.interfaces.rest.gateway.caller import Operator
from gieok.interfaces.rest.schema.chat import ServiceJobsAnswer
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.params import Limit
from gieok.memory.jobs.records import JobStatus

router = APIRouter(prefix="/operator", tags=["operator"], route_class=JsonRoute)


@router.get("/jobs", responses=failures(), summary="List the jobs of all owners")
async def jobs(
    request: Request,
    _caller: Operator,
    status: JobStatus | None = None,
    limit: Limit = 50,
    cursor: str | None = None,
) -> ServiceJobsAnswer:
    """By owner, with the counts of all jobs. `cursor` is the `nextCursor` of the previous page."""
    gieok = cast(Gieok, request.app.state.gieok)
    page = await gieok.jobs(status=status, limit=limit, cursor=cursor)
    return ServiceJobsAnswer(**dict(page))
