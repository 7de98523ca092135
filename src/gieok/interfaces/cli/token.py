"""`gieok token`: tokens for the HTTP service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_with_gieok
from gieok.interfaces.cli.output import dataclass_json, print_fields, print_json, print_table
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from gieok.access import Scope, TokenRecord
    from gieok.memory.fields import AccountPlan

PLANS = ("free", "premium")
SCOPES = ("read", "write", "owner", "operator")
"""The same values as in the records, which are too slow to import for `--help`. A test compares them."""
MAX_DAYS = 36_500
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
    """Tokens for the HTTP service. Each belongs to one user."""


@token.command()
@click.option(
    "--user", "owner", metavar="NAME", required=True, help="User whose data the token gives access to."
)
@click.option(
    "--plan",
    type=click.Choice(PLANS),
    help="Account plan of the user; premium has no limit. Default: GIEOK_ACCOUNT_PLAN, or premium.",
)
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="read; write; owner: export, erase; operator: metrics, jobs. Repeatable. Default: all but operator.",
)
@click.option("--label", metavar="TEXT", help="Label that describes the token. Stored as plain text.")
@click.option("--expires-days", metavar="N", type=click.IntRange(1, MAX_DAYS), help="Expire after N days.")
@json_option
@lang_option
def create(
    owner: str,
    plan: str | None,
    scopes: tuple[str, ...],
    label: str | None,
    expires_days: int | None,
    as_json: bool,
    t: Translator,
) -> None:
    """Create a token and print it. It is not stored and cannot be shown again."""
    from datetime import UTC, datetime, timedelta

    expires_at = datetime.now(UTC) + timedelta(days=expires_days) if expires_days else None
    created = run_with_gieok(
        lambda gieok: gieok.tokens.create(
            owner,
            account_plan=cast("AccountPlan | None", plan),
            scopes=cast("Sequence[Scope]", scopes or SCOPES[:-1]),
            label=label,
            expires_at=expires_at,
        ),
        needs_model=False,
    )
    record = created.record
    if as_json:
        print_json({"token": created.token, **_token_json(record)})
        return
    print_fields(
        [
            (t("token.token"), created.token),
            (t("token.id"), str(record.id)),
            (t("token.user"), record.owner),
            (t("token.plan"), record.account_plan),
            (t("token.scopes"), ", ".join(_scopes(record))),
            (t("token.state"), _state(record, t)),
        ]
    )
    print(t("token.shown_once"))


@token.command("list")
@click.option("--user", "owner", metavar="NAME", help="Only tokens of this user.")
@json_option
@lang_option
def list_tokens(owner: str | None, as_json: bool, t: Translator) -> None:
    """List all tokens, with revoked and expired ones. Secrets are not shown."""
    records = run_with_gieok(lambda gieok: gieok.tokens.list(owner), needs_model=False)
    if as_json:
        print_json({"tokens": [_token_json(each) for each in records]})
    elif not records:
        print(t("token.none"))
    else:
        print_table(
            [t(heading) for heading in HEADINGS],
            [
                [
                    str(record.id),
                    record.owner,
                    record.account_plan,
                    ", ".join(_scopes(record)),
                    record.label or "-",
                    f"{record.created_at:%Y-%m-%d %H:%M}",
                    _state(record, t),
                ]
                for record in records
            ],
        )


@token.command()
@click.argument("token_id", metavar="ID", type=click.UUID)
@json_option
@lang_option
def revoke(token_id: UUID, as_json: bool, t: Translator) -> None:
    """Revoke the token with this ID. It takes effect at once."""
    revoked = run_with_gieok(lambda gieok: gieok.tokens.revoke(token_id), needs_model=False)
    if as_json:
        print_json(_token_json(revoked))
    else:
        print(t("token.revoked", id=revoked.id, user=revoked.owner))


def _token_json(record: TokenRecord) -> dict[str, Any]:
    return {**dataclass_json(record), "id": str(record.id), "scopes": _scopes(record)}


def _scopes(record: TokenRecord) -> list[str]:
    return [scope for scope in SCOPES if scope in record.scopes]


def _state(record: TokenRecord, t: Translator) -> str:
    from datetime import UTC, datetime

    if record.revoked_at is not None:
        return t("token.revoked_at", at=f"{record.revoked_at:%Y-%m-%d %H:%M}")
    if record.expires_at is None:
        return t("token.valid")
    key = "token.valid_until" if record.is_valid(datetime.now(UTC)) else "token.expired_at"
    return t(key, at=f"{record.expires_at:%Y-%m-%d %H:%M}")
