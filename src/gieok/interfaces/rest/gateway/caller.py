"""The caller of a route: the authenticated owner, their account plan and their language.

A route declares the scope that it needs by its parameter: `Reader`, `Writer`, or `Owner` for operations on
all of an owner's data.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, NamedTuple, cast

from fastapi import Depends, Request

from gieok.access import Principal, Scope
from gieok.app import Gieok, User
from gieok.errors import ScopeMissing
from gieok.memory.fields import AccountPlan, Language

PRINCIPAL = "gieok.principal"
"""Key of the ASGI scope under which the gateway passes the authenticated Principal."""
_MAX_HEADER = 256
"""Characters of Accept-Language that are read. A browser sends about forty."""


class Caller(NamedTuple):
    """The owner who sent the request."""

    user: User
    account_plan: AccountPlan
    language: Language
    """The language of the answer: Korean unless the client prefers English."""


def language_of(accept_language: str | None) -> Language:
    """The language that Accept-Language prefers, Korean if it names neither Korean nor English."""
    if not accept_language:
        return "ko"
    weights: dict[Language, float] = {"en": 0.0, "ko": 0.0}
    first: Language | None = None
    for part in accept_language[:_MAX_HEADER].split(","):
        tag, _, quality = part.partition(";")
        language = tag.strip().lower().partition("-")[0]
        weight = _weight(quality)
        if (language == "en" or language == "ko") and weight > 0:  # noqa: PLR1714  narrows the type
            first = first or language
            weights[language] = max(weights[language], weight)
    if weights["en"] == weights["ko"]:
        return first or "ko"
    return "ko" if weights["ko"] > weights["en"] else "en"


def _weight(quality: str) -> float:
    """The q-value: 1 if there is none, 0 if it is not a number."""
    _, _, value = quality.partition("q=")
    if not value:
        return 1.0
    try:
        return min(float(value), 1.0)
    except ValueError:
        return 0.0


def _require(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency that gives the caller. ScopeMissing if their token lacks the scope."""

    async def caller(request: Request) -> Caller:
        principal = cast(Principal, request.scope[PRINCIPAL])
        if scope not in principal.scopes:
            raise ScopeMissing(scope)
        return Caller(
            user=cast(Gieok, request.app.state.gieok).user(principal.owner),
            account_plan=principal.account_plan,
            language=language_of(request.headers.get("accept-language")),
        )

    return caller


Reader = Annotated[Caller, Depends(_require("read"))]
Writer = Annotated[Caller, Depends(_require("write"))]
Owner = Annotated[Caller, Depends(_require("owner"))]
Operator = Annotated[Caller, Depends(_require("operator"))]
