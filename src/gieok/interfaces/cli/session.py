"""`gieok session`: list sessions, read their log, delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import (
    dataclass_json,
    model_json,
    print_json,
    print_table,
    printable_lines,
)
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app import User
    from gieok.memory.sessions.records import ChatMessage

owner_option = user_option("User whose sessions are used.")


@click.group()
def session() -> None:
    """Sessions of a user: list them, read every message, delete them."""


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
@owner_option
@json_option
@lang_option
def show(name: str, owner: str, as_json: bool, t: Translator) -> None:
    """Print every message of SESSION, oldest first."""

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
        print(f"[{each.timestamp:%Y-%m-%d %H:%M}] {speaker}: {printable_lines(each.content)}")


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
