"""`gieok jobs`: list background jobs, and retry those that have failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, run_with_gieok, user_option
from gieok.interfaces.cli.output import model_json, print_json, print_table
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from gieok.memory.jobs.records import Job, JobStatus

STATUSES = ("queued", "running", "done", "failed")
owner_option = user_option("User whose jobs are used.")


@click.group()
def jobs() -> None:
    """Background jobs of a user, such as remembering a conversation."""


@jobs.command("list")
@click.option("--status", type=click.Choice(STATUSES), help="Only jobs with this status.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 1_000), default=20, help="At most N jobs.")
@click.option("--after", metavar="ID", type=click.UUID, help="Start after the last job of the previous page.")
@click.option("--all-users", is_flag=True, help="The jobs of all users, without what they work on.")
@owner_option
@json_option
@lang_option
def list_jobs(
    status: str | None,
    limit: int,
    after: UUID | None,
    all_users: bool,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """List jobs, newest first; those of all users by user."""
    chosen = cast("JobStatus | None", status)
    if all_users:
        if after is not None:
            raise click.UsageError(t("jobs.no_after"))
        _list_all(chosen, limit, as_json, t)
        return
    found = run_for_user(owner, lambda user: user.jobs.list(status=chosen, limit=limit, after=after))
    if as_json:
        print_json({"jobs": [model_json(job) for job in found]})
    elif not found:
        print(t("jobs.none"))
    else:
        _print_jobs(found, t)


@jobs.command()
@click.argument("job_id", metavar="ID", type=click.UUID)
@owner_option
@json_option
@lang_option
def retry(job_id: UUID, owner: str, as_json: bool, t: Translator) -> None:
    """Run the failed job with this ID again: by this program if it has time, or by a worker."""
    job = run_for_user(owner, lambda user: user.jobs.retry(job_id))
    if as_json:
        print_json({"job": model_json(job)})
    else:
        print(t("jobs.retried", kind=job.kind, subject=job.subject))


def _list_all(status: JobStatus | None, limit: int, as_json: bool, t: Translator) -> None:
    page = run_with_gieok(lambda gieok: gieok.jobs(status=status, limit=limit), needs_model=False)
    if as_json:
        print_json(model_json(page))
    elif not page.jobs:
        print(t("jobs.none"))
    else:
        headings = ("jobs.user", "jobs.id", "jobs.kind", "jobs.status", "jobs.attempts", "jobs.error")
        print_table(
            [t(heading) for heading in headings],
            [
                [job.owner, str(job.id), job.kind, job.status, str(job.attempts), job.error or "-"]
                for job in page.jobs
            ],
        )


def _print_jobs(found: Sequence[Job], t: Translator) -> None:
    headings = ("jobs.id", "jobs.kind", "jobs.subject", "jobs.status", "jobs.attempts", "jobs.error")
    print_table(
        [t(heading) for heading in headings],
        [
            [str(job.id), job.kind, job.subject, job.status, str(job.attempts), job.error or "-"]
            for job in found
        ],
    )
