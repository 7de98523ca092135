"""How a command is told which decisions it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.cli.asking import owner_option

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.app import User

C = TypeVar("C", bound=Callable[..., Any])

STRENGTHS = ("axis", "lock", "normal")
"""As in the records, which are not imported before a command runs; a test holds them together."""


def user_option(command: C) -> C:
    """`--user` of the commands for decisions."""
    return owner_option("Whose decisions.")(command)


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
