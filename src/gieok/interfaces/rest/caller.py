"""Who calls: the owner whom the door has let in, and what their token allows.

A route names what it needs: `Reader` to look, `Writer` to change, `Owner` for the owner's data as a whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, NamedTuple, cast

from fastapi import Depends, Request
from starlette.types import Scope as AsgiScope

from gieok.access import Principal, Scope
from gieok.app import Gieok, User
from gieok.errors import ScopeMissing
from gieok.interfaces.rest.language import wants_korean
from gieok.memory.fields import AccountPlan, Language

PRINCIPAL = "gieok.principal"
"""Where the door leaves whom it let in: a key of the ASGI scope."""


class Caller(NamedTuple):
    """The owner whose request this is."""

    user: User
    account_plan: AccountPlan
    scopes: frozenset[Scope]
    language: Language
    """Korean, unless the client asked for English."""


def caller_of(scope: AsgiScope, gieok: Gieok, needed: Scope) -> Caller:
    """Who sends a request that the door has let in. ScopeMissing where their token does not allow it."""
    principal = cast(Principal, scope[PRINCIPAL])
    if needed not in principal.scopes:
        raise ScopeMissing(needed)
    accepted = next((value for name, value in scope["headers"] if name == b"accept-language"), b"")
    return Caller(
        user=gieok.user(principal.owner),
        account_plan=principal.account_plan,
        scopes=principal.scopes,
        language="ko" if wants_korean(accepted.decode("latin-1")) else "en",
    )


def _with_scope(needed: Scope) -> Callable[[Request], Awaitable[Caller]]:
    async def caller(request: Request) -> Caller:
        return caller_of(request.scope, cast(Gieok, request.app.state.gieok), needed)

    return caller


Reader = Annotated[Caller, Depends(_with_scope("read"))]
Writer = Annotated[Caller, Depends(_with_scope("write"))]
Owner = Annotated[Caller, Depends(_with_scope("owner"))]
