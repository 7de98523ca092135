"""How a claimed job is done: the plan of its kind, inside its owner, and what happens when that fails."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from gieok.adapters.sql.scope import OwnerScope
from gieok.engine import CycleResult, ExecutionPlan
from gieok.errors import GieokError, OwnerErased, RateLimited, SummaryFailed, cause_of
from gieok.memory.jobs.records import ClaimedJob, JobKind

if TYPE_CHECKING:
    from gieok.app import Gieok

_log = logging.getLogger(__name__)

LEASE = timedelta(minutes=5)
"""For how long a worker holds a job; longer than a cycle can take, so that a live worker keeps it."""

PUT_BACK_PLAN = "put_back_job"

JobPlans = Mapping[JobKind, str | ExecutionPlan]
JOB_PLANS: JobPlans = {
    "summary": "summarize_session",
    "watch": "close_inactive_session",
    "walk": "walk_anchors",
}
"""The plan that does each kind of job."""


async def run_job(gieok: Gieok, claimed: ClaimedJob) -> CycleResult | None:
    """Do a job. Its result and its completion are one commit; a failure puts it back and returns None.

    A worker that lost its lease, or whose owner was erased meanwhile, changes nothing.
    """
    scope = gieok.scope(claimed.owner)
    job = claimed.job
    try:
        return await gieok.engine.run(gieok.check(gieok.job_plans[job.kind]), scope, {"job": job})
    except GieokError as error:
        cause = cause_of(error)
        if isinstance(cause, OwnerErased):
            return None
        refused = cause if isinstance(cause, GieokError) else error
        _log.warning("job %s (%s) failed: %s", job.id, job.kind, refused.code)
        await _put_back(gieok, scope, claimed, refused)
        return None


async def _put_back(gieok: Gieok, scope: OwnerScope, claimed: ClaimedJob, error: GieokError) -> None:
    request = {
        "job": claimed.job,
        "code": error.code,
        "isFinal": isinstance(error, SummaryFailed),
        "retryAfter": error.retry_after if isinstance(error, RateLimited) else None,
    }
    try:
        await gieok.engine.run(gieok.check(PUT_BACK_PLAN), scope, request)
    except GieokError as lost:
        # Also where this owner's keys are missing: the worker goes on, for everybody else.
        _log.warning("job %s stays until its lease passes, or is another's: %s", claimed.job.id, lost.code)
