"""`gieok decision policy`, `compact` and `walk`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import click

from gieok.errors import NotFound
from gieok.interfaces.cli.decision.read import find_decision, item_text, owner_option
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, run_with_gieok
from gieok.interfaces.cli.output import model_json, one_line, print_json, print_table, printable_lines
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app import Gieok, User
    from gieok.app.decisions import CompactedConversation
    from gieok.memory.decisions.records import Policy
    from gieok.memory.decisions.walks import WalkResult
    from gieok.memory.jobs.records import Job


@click.command()
@click.argument("principles", nargs=-1, metavar="[PRINCIPLE]...")
@click.option("--clear", is_flag=True, help="Remove all principles. Earlier versions stay in the history.")
@click.option("--history", "is_history", is_flag=True, help="Show all versions, oldest first.")
@owner_option
@json_option
@lang_option
def policy(
    principles: tuple[str, ...], clear: bool, is_history: bool, owner: str, as_json: bool, t: Translator
) -> None:
    """Show the policy, or set it to each PRINCIPLE in this order.

    The policy is the first layer of every context. Setting it replaces all principles by a new version.
    """
    if sum((bool(principles), clear, is_history)) > 1:
        raise click.UsageError("choose one of PRINCIPLE, --clear and --history")

    async def run(user: User) -> list[Policy]:
        if principles or clear:
            return [await user.decisions.set_policy(principles)]
        if is_history:
            return list(await user.decisions.policy_history(limit=1_000))
        return [await user.decisions.policy()]

    versions = run_for_user(owner, run)
    if as_json:
        listed = [model_json(each) for each in versions]
        print_json({"versions": listed} if is_history else listed[0])
        return
    for each in versions:
        if each.created_at:
            at = f"{each.created_at:%Y-%m-%d %H:%M}"
            print(t("decision.policy_version", version=each.version, at=at))
        for principle in each.principles:
            print(f"- {printable_lines(principle)}")
    if not any(each.principles for each in versions):
        print(t("decision.no_policy"))


@click.command()
@click.argument("session")
@click.option("--budget", metavar="N", type=click.IntRange(1), help="At most N tokens. Default: the plan's.")
@owner_option
@json_option
@lang_option
def compact(session: str, budget: int | None, owner: str, as_json: bool, t: Translator) -> None:
    """Replace the oldest messages of SESSION by anchors.

    The result is within a budget of tokens. The messages are stored as evidence, word for word. The
    session itself does not change.
    """

    async def run(user: User) -> CompactedConversation:
        return await user.decisions.compact_session(session, budget=budget)

    done = run_for_user(owner, run)
    if as_json:
        print_json(
            {
                "anchors": [model_json(each) for each in done.anchors],
                "evidence": [model_json(each) for each in done.evidence],
                "kept": len(done.messages),
                "leftOut": done.left_out,
            }
        )
        return
    if done.anchors:
        print_table(
            [t("decision.evidence"), t("decision.hint")],
            [
                [", ".join(str(target.id) for target in each.targets), one_line(each.hint)]
                for each in done.anchors
            ],
        )
    print(t("decision.compacted", anchors=len(done.anchors), kept=len(done.messages)))
    if done.left_out:
        print(t("decision.left_out", count=done.left_out))


@click.command()
@click.argument("name", metavar="[DECISION]", required=False)
@click.option("--anchor", metavar="ID", type=click.UUID, help="Begin at this anchor.")
@click.option("--session", metavar="NAME", help="Begin at the anchors of this session.")
@click.option("--depth", metavar="N", type=click.IntRange(1), help="Take at most N steps from the origin.")
@owner_option
@json_option
@lang_option
def walk(
    name: str | None,
    anchor: UUID | None,
    session: str | None,
    depth: int | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Follow relations and citations from a decision or from anchors.

    The walk begins at DECISION, at an anchor or at the anchors of a session. It is a background
    job like that of the HTTP service; this command runs it at once.
    """
    if sum(each is not None for each in (name, anchor, session)) != 1:
        raise click.UsageError("choose one of DECISION, --anchor and --session")

    async def run(gieok: Gieok) -> tuple[Job, WalkResult]:
        user = gieok.user(owner)
        root = await find_decision(user, owner, name) if name is not None else None
        job = await user.decisions.walk(anchor_id=anchor, root_id=root, session_ref=session, depth=depth)
        done = await user.jobs.run(job.id)
        if done.status != "done":
            raise NotFound(f"job {job.id} has no result yet ({done.status}); a worker will run it")
        return done, await user.decisions.walk_result(job.id)

    job, found = run_with_gieok(run)
    if as_json:
        print_json({"jobId": str(job.id), **model_json(found)})
        return
    for item in found.items:
        print(item_text(item, set(), t))
    print(t("decision.walked_truncated" if found.truncated else "decision.walked", count=len(found.items)))
