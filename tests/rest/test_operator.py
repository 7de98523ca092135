"""Jobs of all owners: for operators only, in pages, without content."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from gieok.adapters.sql.scope import SqlView
from gieok.client import GieokClient
from gieok.memory.jobs.records import JobDraft, JobOutcome, ServiceJobs
from tests.rest.conftest import Server

OWNERS = ("ana", "ben", "chulsu")


def fail_job(server: Server, owner: str, subject: str) -> UUID:
    """Add a job that has failed for good, and one that waits."""
    now = datetime.now(UTC)
    job = JobDraft(id=uuid4(), kind="walk", subject=subject, due_at=now)

    def add(view: SqlView) -> None:
        view.jobs.add(job, now)
        claimed = view.jobs.claim(job.id, now, now + timedelta(minutes=1))
        assert claimed
        view.jobs.settle(claimed, JobOutcome(status="failed", error="STEP_FAILED"))
        later = now + timedelta(days=1)
        view.jobs.add(JobDraft(id=uuid4(), kind="watch", subject=subject, due_at=later), now)

    server.run(server.gieok.scope(owner).write(add))
    return job.id


@pytest.mark.req("OPS-4")
def test_an_operator_lists_the_jobs_of_all_owners(server: Server) -> None:
    failed = {fail_job(server, owner, "비밀세션") for owner in OWNERS}
    with server.client("op", scopes={"operator"}) as client:
        answer = client.get("/api/v1/operator/jobs", params={"status": "failed"})
        body = answer.json()
    assert [job["owner"] for job in body["jobs"]] == list(OWNERS)
    assert {UUID(job["id"]) for job in body["jobs"]} == failed
    assert {(job["kind"], job["status"], job["error"]) for job in body["jobs"]} == {
        ("walk", "failed", "STEP_FAILED")
    }
    assert body["counts"] == [
        {"kind": "walk", "status": "failed", "count": 3},
        {"kind": "watch", "status": "queued", "count": 3},
    ]
    assert "비밀" not in answer.text


def test_an_owner_sees_only_their_own_jobs(server: Server) -> None:
    fail_job(server, "ana", "s")
    with server.client("ben", scopes={"read", "write", "owner"}) as client:
        refused = client.get("/api/v1/operator/jobs")
        assert (refused.status_code, refused.json()["error"]) == (403, "FORBIDDEN")
        assert client.get("/api/v1/jobs").json()["jobs"] == []
    with server.client("op", scopes={"operator"}) as client:
        assert client.get("/api/v1/jobs").status_code == 403


async def test_pages_follow_each_other_in_the_client(server: Server) -> None:
    for owner in OWNERS:
        fail_job(server, owner, "s")
    pages: list[ServiceJobs] = []
    cursor: str | None = None
    async with GieokClient(server.url, server.token("op", scopes={"operator"})) as client:
        while not pages or cursor is not None:
            pages.append(await client.jobs.of_all(limit=2, cursor=cursor))
            cursor = pages[-1].next_cursor
    jobs = [job for page in pages for job in page.jobs]
    assert [len(page.jobs) for page in pages] == [2, 2, 2]
    assert len({(job.owner, job.id) for job in jobs}) == 6
