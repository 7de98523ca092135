"""Work that is done later."""

from __future__ import annotations

from fastapi import APIRouter

from gieok.interfaces.rest.caller import Reader
from gieok.interfaces.rest.schema.chat import JobAnswer, job_view
from gieok.interfaces.rest.schema.common import failures
from gieok.interfaces.rest.schema.params import JobPath

router = APIRouter(tags=["sessions"])


@router.get("/jobs/{id}", responses=failures(404), summary="How far a job is")
async def get(job_id: JobPath, caller: Reader) -> JobAnswer:
    """A job that is `done` has made the memory `memoryId`."""
    return JobAnswer(job=job_view(await caller.user.sessions.job(job_id)))
