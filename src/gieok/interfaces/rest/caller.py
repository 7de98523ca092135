"""Who calls: the owner whom the door has let in, and what their token allows.

A route names what it needs: `Reader` to look, `Writer` to change, `Owner` for the owner's data as a whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from gieok.access import Principal, Scope
from gieok.app import Gieok, User
from gieok.errors import ScopeMissing
from gieok.interfaces.rest.language import wants_korean
from gieok.memory.fields import AccountPlan

PRINCIPAL = "gieok.principal"
"""Where the door leaves whom it let in: a key of the ASGI scope."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner whose request this is."""

    user: User
    account_plan: AccountPlan
    scopes: frozenset[Scope]
    korean: bool
    """Answer in Korean: the client did not ask for English."""


def _with_scope(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    async def caller(request: Request) -> Caller:
        principal = cast(Principal, request.scope[PRINCIPAL])
        if scope not in principal.scopes:
            raise ScopeMissing(scope)
        gieok = cast(Gieok, request.app.state.gieok)
        return Caller(
            user=gieok.user(principal.owner),
            account_plan=principal.account_plan,
            scopes=principal.scopes,
            korean=wants_korean(request.headers.get("accept-language")),
        )

    return caller


Reader = Annotated[Caller, Depends(_with_scope("read"))]
Writer = Annotated[Caller, Depends(_with_scope("write"))]
Owner = Annotated[Caller, Depends(_with_scope("owner"))]
