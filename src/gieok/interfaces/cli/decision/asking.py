"""How a command reaches one user's decisions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gieok.errors import InputRefused, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.app import User
    from gieok.engine import Data

C = TypeVar("C", bound=Callable[..., Any])
T = TypeVar("T")

USER = "GIEOK_USER"
STRENGTHS = ("axis", "lock", "normal")
"""As in the records, which are not imported before a command runs; a test holds them together."""


def owner_option(whose: str) -> Callable[[C], C]:
    """`--user`, given to the command as `owner`; `whose` begins its help."""
    return click.option(
        "--user",
        "owner",
        metavar="NAME",
        envvar=USER,
        callback=_owner,
        help=f"{whose} Default: {USER}, or the name of the system's user.",
    )


def user_option(command: C) -> C:
    """`--user` of the commands for decisions."""
    return owner_option("Whose decisions.")(command)


def _owner(_context: click.Context, _option: click.Parameter, given: str | None) -> str:
    import getpass

    if given:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise click.UsageError(f"this system's user has no name; use --user NAME or {USER}") from None


def ask(owner: str, work: Callable[[User], Awaitable[T]]) -> T:
    """Open Gieok as the settings say, and do the work for one user."""
    import asyncio

    from gieok.app import Gieok

    async def run() -> T:
        async with await Gieok.open() as gieok:
            return await work(gieok.user(owner))

    return asyncio.run(run())


async def find(user: User, owner: str, name: str) -> UUID:
    """The decision that a person means by `name`, or by `folder:name`. NotFound where there is none."""
    from gieok.interfaces.markdown.naming import root_id

    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputRefused(
            "is no text; name a decision by its id, or as it was imported", at="DECISION"
        ) from None
    space, colon, rest = name.partition(":")
    roots = [root_id(owner, name)] + ([root_id(owner, rest, space)] if colon else [])
    found = await user.decisions.active(roots)
    if not found:
        raise NotFound(f"there is no decision '{name}'; name it by its id, or as it was imported")
    return found[0].root_id


def documents(records: Sequence[Data]) -> list[dict[str, Any]]:
    """Records as JSON has them."""
    return [record.model_dump(mode="json", by_alias=True) for record in records]
