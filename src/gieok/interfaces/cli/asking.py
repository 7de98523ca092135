"""How a command works for one user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from gieok.app import User

C = TypeVar("C", bound=Callable[..., Any])
T = TypeVar("T")

USER = "GIEOK_USER"


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
