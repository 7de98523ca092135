"""`gieok token`: who may call the service, and as whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from gieok.interfaces.cli.output import json_option, lang_option, print_facts, print_json, print_table, wire
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from uuid import UUID

    from gieok.access import Scope, TokenRecord
    from gieok.app.tokens import Tokens
    from gieok.memory.fields import AccountPlan

T = TypeVar("T")

PLANS = ("free", "premium")
SCOPES = ("read", "write", "owner")
"""As in the records, which are not imported before a command runs; a test holds them together."""
MOST_DAYS = 36_500
HEADINGS = (
    "token.head_id",
    "token.head_user",
    "token.head_plan",
    "token.head_scopes",
    "token.head_label",
    "token.head_created",
    "token.head_state",
)


@click.group()
def token() -> None:
    """Tokens that let a program call the service as one user."""


@token.command()
@click.option("--user", "owner", metavar="NAME", required=True, help="Whose memory the token is for.")
@click.option(
    "--plan", type=click.Choice(PLANS), default="free", help="What the user pays for. Default: free."
)
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="What it is good for: to look, to change, to export and erase. May be given again. Default: all.",
)
@click.option("--label", metavar="TEXT", help="What the token is for, to know it again. Stored in clear.")
@click.option(
    "--expires-days", metavar="N", type=click.IntRange(1, MOST_DAYS), help="Refuse it after N days."
)
@json_option
@lang_option
def create(
    owner: str,
    plan: str,
    scopes: tuple[str, ...],
    label: str | None,
    expires_days: int | None,
    as_json: bool,
    say: Say,
) -> None:
    """Make a token and print it. It is not stored, so it cannot be shown again."""
    from datetime import UTC, datetime, timedelta

    expires_at = datetime.now(UTC) + timedelta(days=expires_days) if expires_days else None
    made = _ask(
        lambda tokens: tokens.create(
            owner,
            account_plan=cast("AccountPlan", plan),
            scopes=cast("Sequence[Scope]", scopes or SCOPES),
            label=label,
            expires_at=expires_at,
        )
    )
    if as_json:
        print_json({"token": made.token, **_document(made.record)})
    else:
        print_facts([(say("token.token"), made.token), *_facts(made.record, say)])
        print(say("token.once"))


@token.command("list")
@click.option("--user", "owner", metavar="NAME", help="Only those of this user.")
@json_option
@lang_option
def list_tokens(owner: str | None, as_json: bool, say: Say) -> None:
    """Every token, also revoked and expired ones. The tokens themselves are not known any more."""
    records = _ask(lambda tokens: tokens.list(owner))
    if as_json:
        print_json({"tokens": [_document(each) for each in records]})
    elif not records:
        print(say("token.none"))
    else:
        print_table([say(heading) for heading in HEADINGS], [_row(each, say) for each in records])


@token.command()
@click.argument("token_id", metavar="ID", type=click.UUID)
@json_option
@lang_option
def revoke(token_id: UUID, as_json: bool, say: Say) -> None:
    """Refuse the token with this ID from now on, everywhere at once."""
    revoked = _ask(lambda tokens: tokens.revoke(token_id))
    if as_json:
        print_json(_document(revoked))
    else:
        print(say("token.revoked", id=revoked.id, user=revoked.owner))


def _ask(work: Callable[[Tokens], Awaitable[T]]) -> T:
    """Open Gieok as the settings say, for the operator."""
    import asyncio

    from gieok.app import Gieok

    async def run() -> T:
        async with await Gieok.open() as gieok:
            return await work(gieok.tokens)

    return asyncio.run(run())


def _document(record: TokenRecord) -> dict[str, Any]:
    return {**wire(record), "id": str(record.id), "scopes": _in_order(record)}


def _facts(record: TokenRecord, say: Say) -> list[tuple[str, str]]:
    return [
        (say("token.id"), str(record.id)),
        (say("token.user"), record.owner),
        (say("token.plan"), record.account_plan),
        (say("token.scopes"), ", ".join(_in_order(record))),
        (say("token.state"), _state(record, say)),
    ]


def _row(record: TokenRecord, say: Say) -> list[str]:
    return [
        str(record.id),
        record.owner,
        record.account_plan,
        ", ".join(_in_order(record)),
        record.label or "-",
        f"{record.created_at:%Y-%m-%d %H:%M}",
        _state(record, say),
    ]


def _in_order(record: TokenRecord) -> list[str]:
    return [scope for scope in SCOPES if scope in record.scopes]


def _state(record: TokenRecord, say: Say) -> str:
    from datetime import UTC, datetime

    if record.revoked_at is not None:
        return say("token.revoked_at", at=f"{record.revoked_at:%Y-%m-%d %H:%M}")
    if record.expires_at is None:
        return say("token.in_force")
    key = "token.in_force_until" if record.is_in_force(datetime.now(UTC)) else "token.expired_at"
    return say(key, at=f"{record.expires_at:%Y-%m-%d %H:%M}")
