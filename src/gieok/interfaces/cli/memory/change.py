"""`gieok memory edit`, `tag`, `history`, `archive`, `restore` and `delete`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.memory.read import headings, memory_json, row_of
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import one_line, print_json, print_table
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.app import User
    from gieok.memory.companion.records import Memory


@click.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@click.option("--summary", metavar="TEXT", help="New summary.")
@click.option("--importance", metavar="N", type=click.IntRange(1, 10), help="New importance.")
@click.option("--topic", "topics", metavar="TEXT", multiple=True, help="New topic. Repeatable.")
@click.option("--emotion", metavar="NAME", help="New emotion, such as joy or 기쁨.")
@click.option("--tag", "tags", metavar="TEXT", multiple=True, help="New tag. Repeatable.")
@user_option("User whose memory is changed.")
@json_option
@lang_option
def edit(  # noqa: PLR0913, PLR0917  click passes each option as an argument
    memory_id: UUID,
    summary: str | None,
    importance: int | None,
    topics: tuple[str, ...],
    emotion: str | None,
    tags: tuple[str, ...],
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Change the memory with this ID. Fields that are not given stay as they are.

    --topic and --tag replace all topics or tags. The words of the old version no longer find it.
    """
    from gieok.app.cycles import validated
    from gieok.memory.companion.records import MemoryChanges

    changes = validated(
        MemoryChanges,
        summary=summary,
        importance=importance,
        topics=topics or None,
        emotion=emotion,
        tags=tags or None,
    )
    if changes == MemoryChanges():
        raise click.UsageError("give at least one field to change")
    _print_changed(run_for_user(owner, lambda user: user.companion.edit(memory_id, changes)), as_json, t)


@click.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@click.argument("tags", metavar="TAG...", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Remove the tags.")
@user_option("User whose memory is tagged.")
@json_option
@lang_option
def tag(
    memory_id: UUID, tags: tuple[str, ...], remove: bool, owner: str, as_json: bool, t: Translator
) -> None:
    """Add each TAG to the memory with this ID, or remove it."""
    from gieok.app.cycles import validated
    from gieok.memory.companion.records import MemoryChanges

    async def change(user: User) -> Memory:
        found = await user.companion.get(memory_id)
        kept = [each for each in found.tags if each not in tags]
        changed = tuple(kept) if remove else tuple(dict.fromkeys((*found.tags, *tags)))
        changes = validated(MemoryChanges, tags=changed)
        return await user.companion.edit(memory_id, changes, expected_version=found.version)

    _print_changed(run_for_user(owner, change), as_json, t)


@click.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@user_option("User whose memory is shown.")
@json_option
@lang_option
def history(memory_id: UUID, owner: str, as_json: bool, t: Translator) -> None:
    """Show all versions of the memory with this ID, oldest first. The current one has a star."""
    versions = run_for_user(owner, lambda user: user.companion.history(memory_id))
    if as_json:
        print_json({"versions": [memory_json(each, t) for each in versions]})
        return
    print_table(
        [
            t("memory.version"),
            t("memory.importance"),
            t("memory.topics"),
            t("memory.tags"),
            t("memory.summary"),
        ],
        [
            [
                str(each.version) if each.replaced_at else f"{each.version} *",
                str(each.importance),
                one_line(", ".join(each.topics)) or "-",
                one_line(", ".join(each.tags)) or "-",
                one_line(each.summary),
            ]
            for each in versions
        ],
    )


@click.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@user_option("User whose memory is archived.")
@json_option
@lang_option
def archive(memory_id: UUID, owner: str, as_json: bool, t: Translator) -> None:
    """Archive the memory with this ID. Search still finds it, but no conversation starts with it."""
    _print_changed(run_for_user(owner, lambda user: user.companion.archive(memory_id)), as_json, t)


@click.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@user_option("User whose memory is restored.")
@json_option
@lang_option
def restore(memory_id: UUID, owner: str, as_json: bool, t: Translator) -> None:
    """Make the archived memory with this ID active again.

    The limit of the persona applies, but no limit of an account: that belongs to the user's token.
    """
    _print_changed(
        run_for_user(owner, lambda user: user.companion.restore(memory_id, account_plan="premium")),
        as_json,
        t,
    )


@click.command()
@click.argument("memory_id", metavar="[ID]", type=click.UUID, required=False)
@click.option("--persona", metavar="ID", help="Delete all memories with this persona.")
@click.option("--all", "is_all", is_flag=True, help="Delete all memories of the user.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@user_option("User whose memories are deleted.")
@json_option
@lang_option
def delete(
    memory_id: UUID | None,
    persona: str | None,
    is_all: bool,
    yes: bool,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Delete the memory with this ID permanently, or all memories. Facts, sessions and decisions stay."""
    if sum((memory_id is not None, persona is not None, is_all)) != 1:
        raise click.UsageError("choose one of ID, --persona and --all")
    if not yes:
        click.confirm(t("memory.confirm_delete"), abort=True, err=True)

    async def run(user: User) -> int:
        if memory_id is None:
            return await user.companion.delete_all(persona)
        await user.companion.delete(memory_id)
        return 1

    deleted = run_for_user(owner, run)
    print_json({"deleted": deleted}) if as_json else print(t("memory.deleted", count=deleted))


def _print_changed(changed: Memory, as_json: bool, t: Translator) -> None:
    if as_json:
        print_json({"memory": memory_json(changed, t)})
    else:
        print_table(headings(t), [row_of(changed)])
