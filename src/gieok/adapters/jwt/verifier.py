"""A JWT to the caller that it stands for."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, cast, get_args

import jwt

from gieok.access import ALL_SCOPES, Principal, Scope
from gieok.adapters.jwt.key_set import KeySet
from gieok.errors import InputRefused, Unauthenticated
from gieok.memory.fields import AccountPlan
from gieok.refs import check_ref
from gieok.settings.jwt import JwtSettings

LONGEST_JWT = 8192
LEEWAY = timedelta(seconds=10)
"""How far the clocks of two machines may be apart."""

_SHAPE = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)


class JwtVerifier:
    """Accepts what the configured issuer signed for the configured audience, with the one algorithm."""

    def __init__(self, settings: JwtSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._keys = KeySet(settings, clock)

    async def verify(self, token: str) -> Principal:
        """Who calls with this JWT. Unauthenticated where it stands for nobody; StoreUnavailable where the
        keys that could tell cannot be had.
        """
        if len(token) > LONGEST_JWT or not _SHAPE.fullmatch(token):
            raise Unauthenticated
        try:
            return _principal(await self._claims(token))
        except (jwt.PyJWTError, InputRefused):
            raise Unauthenticated from None

    async def _claims(self, token: str) -> Mapping[str, Any]:
        """The claims of a JWT whose signature, times, issuer and audience are right."""
        settings = self._settings
        header = jwt.get_unverified_header(token)
        if header.get("alg") != settings.jwt_algorithm or "kid" not in header:
            raise Unauthenticated
        key = await self._keys.find(header["kid"])
        if key is None:
            raise Unauthenticated
        return jwt.decode(
            token,
            key,
            algorithms=[settings.jwt_algorithm],
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            leeway=LEEWAY,
            options={"require": ["exp", "sub"]},
        )


def _principal(claims: Mapping[str, Any]) -> Principal:
    plan = claims.get("gieok_plan", "free")
    if plan not in get_args(AccountPlan):
        raise Unauthenticated
    return Principal(check_ref(claims["sub"], "sub"), plan, _scopes(claims), token_id=None)


def _scopes(claims: Mapping[str, Any]) -> frozenset[Scope]:
    """Our words in the claim. A sign-on has scopes for others too, and what is not for us gives nothing."""
    given = claims.get("scope")
    if given is None:
        return ALL_SCOPES
    if not isinstance(given, str):
        raise Unauthenticated
    return ALL_SCOPES & cast("set[Scope]", set(given.split()))
