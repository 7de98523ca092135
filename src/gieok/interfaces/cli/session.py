"""`gieok session`: list sessions, read their log, import chats, delete them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.memory.data import open_file
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import (
    dataclass_json,
    format_table,
    model_json,
    one_line,
    print_json,
    print_table,
    printable_lines,
    progress_bar,
)
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.adapters.imports.chats import Format
    from gieok.app import User
    from gieok.app.chat_imports import ImportedChats
    from gieok.engine import StepRecord
    from gieok.memory.cycle_records import CyclePage
    from gieok.memory.sessions.records import ChatMessage

owner_option = user_option("User whose sessions are used.")
MAX_CYCLES = 100
FORMATS = ("sillytavern", "chatgpt", "mem0", "letta", "gieok")
"""The same values as in the reader, which is too slow to import for `--help`. A test compares them."""


@click.group()
def session() -> None:
    """Sessions of a user: list, read, import and delete them."""


@session.command("list")
@click.option("--persona", metavar="ID", help="Only sessions with this persona.")
@click.option("--limit", metavar="N", type=click.IntRange(1, 1_000), default=20, help="At most N sessions.")
@click.option("--cursor", metavar="TEXT", help="Start at the cursor that the previous page printed.")
@owner_option
@json_option
@lang_option
def list_sessions(
    persona: str | None, limit: int, cursor: str | None, owner: str, as_json: bool, t: Translator
) -> None:
    """List sessions, newest first."""
    page = run_for_user(owner, lambda user: user.sessions.list(persona, limit=limit, cursor=cursor))
    if as_json:
        print_json(model_json(page))
    elif not page.sessions:
        print(t("session.none"))
    else:
        headings = ("session.id", "session.persona", "session.started", "session.messages", "session.ended")
        print_table(
            [t(heading) for heading in headings],
            [
                [
                    each.session_ref,
                    each.persona_id or "-",
                    f"{each.started_at:%Y-%m-%d %H:%M}",
                    str(each.message_count),
                    f"{each.ended_at:%Y-%m-%d %H:%M}" if each.ended_at else "-",
                ]
                for each in page.sessions
            ],
        )
        if page.next_cursor:
            print(t("session.next_page", cursor=page.next_cursor))


@session.command()
@click.argument("name", metavar="SESSION")
@click.option("--steps", is_flag=True, help="Print how its last turns and jobs ran instead.")
@owner_option
@json_option
@lang_option
def show(name: str, steps: bool, owner: str, as_json: bool, t: Translator) -> None:
    """Print every message of SESSION, oldest first.

    --steps prints the stored records of its turns and jobs, newest first: the plan, and the time of each
    step. They have no content. GIEOK_KEEP_CYCLES says how many are stored.
    """
    if steps:
        page = run_for_user(owner, lambda user: user.sessions.cycles(name, limit=MAX_CYCLES))
        if as_json:
            print_json(model_json(page))
        else:
            _print_cycles(page, t)
        return

    async def read(user: User) -> list[ChatMessage]:
        messages: list[ChatMessage] = []
        cursor = None
        while True:
            page = await user.sessions.log_page(name, cursor=cursor)
            messages += page.messages
            cursor = page.next_cursor
            if cursor is None:
                return messages

    messages = run_for_user(owner, read)
    if as_json:
        print_json({"messages": [model_json(each) for each in messages]})
        return
    speakers = {"user": t("session.user"), "assistant": t("session.assistant")}
    for each in messages:
        speaker = speakers[each.role]
        mark = f" ({t('session.withdrawn')})" if each.withdrawn_at else ""
        print(f"[{each.timestamp:%Y-%m-%d %H:%M}] {speaker}{mark}: {printable_lines(each.content)}")


def _print_cycles(page: CyclePage, t: Translator) -> None:
    for cycle in page.cycles:
        subject = t("session.job", id=cycle.job_id) if cycle.job_id else t("session.turn", id=cycle.turn_id)
        print(f"[{cycle.started_at:%Y-%m-%d %H:%M:%S}] {cycle.plan_name} {cycle.plan_hash[:12]}  {subject}")
        rows = [[f"  {each.type}", f"{each.duration_ms:.2f} ms", _notes(each)] for each in cycle.steps]
        rows.append([f"  {t('session.total')}", f"{cycle.duration_ms:.2f} ms", ""])
        print("\n".join(format_table(rows)))
    if not page.cycles:
        print(t("session.no_cycles"))


def _notes(step: StepRecord) -> str:
    """The counts of a step; of ids, how many there are."""
    counts = {
        name: value if isinstance(value, int | float | str) else len(value)
        for name, value in step.notes.items()
    }
    return ", ".join(f"{name} {count}" for name, count in counts.items())


@session.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--persona", metavar="ID", required=True, help="Persona of the conversations.")
@click.option("--format", "file_format", type=click.Choice(FORMATS), help="Format. Default: detected.")
@click.option("--remember", is_flag=True, help="Remember and summarise them in the background.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and change nothing.")
@owner_option
@json_option
@lang_option
def import_chats(
    file: Path,
    persona: str,
    file_format: Format | None,
    remember: bool,
    dry_run: bool,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Import conversations from FILE; - reads standard input.

    Reads chats of SillyTavern (.jsonl), conversations.json of ChatGPT, memories of mem0, agent files of
    Letta, and what `gieok session show --json` prints. Each conversation is imported as a whole or not at
    all, as a session that has ended. Importing a file twice is the same as importing it once.
    """
    from gieok.adapters.imports.chats import MAX_CHAT_BYTES

    with open_file(file) as source:
        content = source.read(MAX_CHAT_BYTES + 1)

    async def run(user: User) -> ImportedChats:
        with progress_bar(t("session.importing")) as report:
            return await user.imports.chats(
                content,
                persona,
                file_format=file_format,
                remember=remember,
                dry_run=dry_run,
                report=report,
            )

    done = run_for_user(owner, run)
    if as_json:
        print_json(dataclass_json(done) | {"conversations": [dataclass_json(c) for c in done.conversations]})
    else:
        _print_import(done, dry_run=dry_run, t=t)
    if any(each.error for each in done.conversations):
        raise click.exceptions.Exit(1)


def _print_import(done: ImportedChats, *, dry_run: bool, t: Translator) -> None:
    if done.conversations:
        headings = ("session.id", "session.title", "session.started", "session.messages", "session.new")
        print_table(
            [t(heading) for heading in headings],
            [
                [
                    each.session_ref,
                    one_line(each.error or each.title or "-"),
                    f"{each.started_at:%Y-%m-%d %H:%M}",
                    str(each.messages),
                    str(each.added),
                ]
                for each in done.conversations
            ],
        )
    print(
        t(
            "session.would_import" if dry_run else "session.imported",
            conversations=sum(each.added > 0 for each in done.conversations),
            messages=sum(each.added for each in done.conversations),
            memories=done.memories_added,
        )
    )


@session.command()
@click.argument("name", metavar="SESSION")
@click.option("--cascade", is_flag=True, help="Also delete memories and facts that came from it.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@owner_option
@json_option
@lang_option
def delete(name: str, cascade: bool, yes: bool, owner: str, as_json: bool, t: Translator) -> None:
    """Delete SESSION permanently, with its messages and turn memories. Memories and facts stay."""
    if not yes:
        click.confirm(t("memory.confirm_delete"), abort=True, err=True)
    deleted = run_for_user(owner, lambda user: user.sessions.delete(name, cascade=cascade))
    if as_json:
        print_json({"deleted": dataclass_json(deleted)})
    else:
        print(t("session.deleted", messages=deleted.messages, memories=deleted.memories, facts=deleted.facts))
