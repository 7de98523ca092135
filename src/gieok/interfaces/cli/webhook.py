"""`gieok webhook`: send the events of a user to other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import model_json, print_fields, print_json, print_table
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from gieok.memory.events.records import EventKind

owner_option = user_option("User whose webhooks are used.")


@click.group()
def webhook() -> None:
    """Webhooks: URLs to which the events of a user are sent, signed."""


@webhook.command()
@click.argument("url", metavar="URL")
@click.option("--events", metavar="KINDS", help="Kinds of event, separated by commas. Default: all.")
@click.option("--include-content", is_flag=True, help="Also send the content, such as the text of messages.")
@owner_option
@json_option
@lang_option
def add(
    url: str, events: str | None, include_content: bool, owner: str, as_json: bool, t: Translator
) -> None:
    """Send later events to URL and print the secret that they are signed with. It is not shown again."""
    kinds = cast("Sequence[EventKind]", [each.strip() for each in events.split(",")] if events else ())
    added = run_for_user(
        owner, lambda user: user.webhooks.add(url, events=kinds, include_content=include_content)
    )
    if as_json:
        print_json(model_json(added))
        return
    print_fields([(t("webhook.id"), str(added.webhook.id)), (t("webhook.secret"), added.secret)])
    print(t("webhook.shown_once"))


@webhook.command("list")
@owner_option
@json_option
@lang_option
def list_webhooks(owner: str, as_json: bool, t: Translator) -> None:
    """List webhooks, oldest first."""
    found = run_for_user(owner, lambda user: user.webhooks.list())
    if as_json:
        print_json({"webhooks": [model_json(each) for each in found]})
    elif not found:
        print(t("webhook.none"))
    else:
        headings = ("webhook.id", "webhook.url", "webhook.events", "webhook.content")
        print_table(
            [t(heading) for heading in headings],
            [
                [
                    str(each.id),
                    each.url,
                    ", ".join(each.events) or t("webhook.all"),
                    t("webhook.with_content" if each.include_content else "webhook.without_content"),
                ]
                for each in found
            ],
        )


@webhook.command()
@click.argument("webhook_id", metavar="ID", type=click.UUID)
@owner_option
@json_option
@lang_option
def remove(webhook_id: UUID, owner: str, as_json: bool, t: Translator) -> None:
    """Remove the webhook with this ID, with the events that it did not get."""
    run_for_user(owner, lambda user: user.webhooks.remove(webhook_id))
    if as_json:
        print_json({"removed": str(webhook_id)})
    else:
        print(t("webhook.removed", id=webhook_id))


@webhook.command()
@click.argument("webhook_id", metavar="ID", type=click.UUID)
@click.option("--limit", metavar="N", type=click.IntRange(1, 1_000), default=20, help="At most N events.")
@click.option("--after", metavar="N", type=click.IntRange(0), default=0, help="Start after event number N.")
@owner_option
@json_option
@lang_option
def failed(webhook_id: UUID, limit: int, after: int, owner: str, as_json: bool, t: Translator) -> None:
    """List the events that could not be delivered to the webhook with this ID."""
    found = run_for_user(owner, lambda user: user.webhooks.dead_letters(webhook_id, limit=limit, after=after))
    if as_json:
        print_json({"deadLetters": [model_json(each) for each in found]})
    elif not found:
        print(t("webhook.none_failed"))
    else:
        headings = ("webhook.number", "webhook.kind", "webhook.subject", "jobs.attempts", "jobs.error")
        print_table(
            [t(heading) for heading in headings],
            [
                [
                    str(each.event.number),
                    each.event.kind,
                    each.event.subject,
                    str(each.attempts),
                    each.error,
                ]
                for each in found
            ],
        )


@webhook.command()
@click.argument("webhook_id", metavar="ID", type=click.UUID)
@click.option("--number", metavar="N", type=click.IntRange(1), help="Only the event with this number.")
@owner_option
@json_option
@lang_option
def retry(webhook_id: UUID, number: int | None, owner: str, as_json: bool, t: Translator) -> None:
    """Send events again that could not be delivered: one attempt each."""
    count = run_for_user(owner, lambda user: user.webhooks.retry(webhook_id, number=number))
    if as_json:
        print_json({"retried": count})
    else:
        print(t("webhook.retried", count=count))
