"""Verification of JWTs from an identity provider, with its public keys cached."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, cast, get_args

import jwt
from pydantic import BaseModel, ConfigDict

from gieok.access import ALL_SCOPES, OWNER_SCOPES, Principal, Scope
from gieok.errors import InputRefused, StoreUnavailable, Unauthenticated
from gieok.memory.fields import DEFAULT_ACCOUNT_PLAN, AccountPlan
from gieok.refs import check_ref
from gieok.settings import JwtSettings

MAX_JWT_CHARS = 8192
LEEWAY = timedelta(seconds=10)
"""Tolerated clock skew between two machines."""
MIN_REFRESH_SECONDS = 60.0
"""Minimum interval between reads for unknown key ids, because anybody can send one."""
KEY_TTL_SECONDS = 600.0
"""Keys are read again after this time, so that a key that the identity provider withdrew is not accepted."""
FETCH_TIMEOUT_SECONDS = 5.0
MAX_JWKS_BYTES = 1024 * 1024

_JWT_FORMAT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_log = logging.getLogger(__name__)


class JwtVerifier:
    """Accepts JWTs that the configured issuer signed for the configured audience, with one algorithm."""

    def __init__(
        self,
        settings: JwtSettings,
        clock: Callable[[], float] = time.monotonic,
        *,
        account_plan: AccountPlan = DEFAULT_ACCOUNT_PLAN,
    ) -> None:
        """`account_plan` is that of JWTs without the claim `gieok_plan`."""
        self._settings = settings
        self._account_plan: AccountPlan = account_plan
        self._keys = KeyCache(settings, clock)

    async def verify(self, token: str) -> Principal:
        """The caller that a JWT identifies.

        Unauthenticated for an invalid JWT. StoreUnavailable where no keys could be read to verify it.
        """
        if len(token) > MAX_JWT_CHARS or not _JWT_FORMAT.fullmatch(token):
            raise Unauthenticated
        try:
            return _principal(await self._verified_claims(token), self._account_plan)
        except (jwt.PyJWTError, InputRefused):
            raise Unauthenticated from None

    @staticmethod
    def is_issued_after(caller: Principal, moment: float) -> bool:
        """Whether a JWT was certainly issued after a moment, although clocks differ. False without `iat`."""
        return caller.issued_at is not None and caller.issued_at > moment + LEEWAY.total_seconds()

    async def _verified_claims(self, token: str) -> Mapping[str, Any]:
        """The claims, after a check of signature, times, issuer and audience."""
        settings = self._settings
        header = jwt.get_unverified_header(token)
        if header.get("alg") != settings.jwt_algorithm or "kid" not in header:
            raise Unauthenticated
        key = await self._keys.get(header["kid"])
        if key is None:
            raise Unauthenticated
        claims = jwt.decode(
            token,
            key,
            algorithms=[settings.jwt_algorithm],
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            leeway=LEEWAY,
            options={"require": ["exp", "sub"]},
        )
        _check_lifetime(claims, settings.jwt_max_hours)
        return claims


def _check_lifetime(claims: Mapping[str, Any], max_hours: int) -> None:
    """Unauthenticated for a JWT that is valid for longer than allowed, because it cannot be revoked."""
    now = time.time()
    issued_at = min(float(claims.get("iat", now)), now)
    if float(claims["exp"]) - issued_at > (timedelta(hours=max_hours) + LEEWAY).total_seconds():
        raise Unauthenticated


def _principal(claims: Mapping[str, Any], account_plan: AccountPlan) -> Principal:
    plan = claims.get("gieok_plan", account_plan)
    if plan not in get_args(AccountPlan):
        raise Unauthenticated
    issued_at = float(claims["iat"]) if "iat" in claims else None
    return Principal(check_ref(claims["sub"], "sub"), plan, _scopes(claims), None, issued_at)


def _scopes(claims: Mapping[str, Any]) -> frozenset[Scope]:
    """Gieok's scopes in the claim; those of other services are ignored. Without it, those of an owner."""
    scope = claims.get("scope")
    if scope is None:
        return OWNER_SCOPES
    if not isinstance(scope, str):
        raise Unauthenticated
    return ALL_SCOPES & cast("set[Scope]", set(scope.split()))


class KeyCache:
    """The public keys of the identity provider's JWKS, by key id.

    Cached keys stay valid while the JWKS cannot be read.
    """

    def __init__(self, settings: JwtSettings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: Mapping[str, jwt.PyJWK] | None = None
        self._refreshed_at = float("-inf")
        self._refresh_task: asyncio.Task[None] | None = None

    async def get(self, key_id: str) -> jwt.PyJWK | None:
        """The key with this id. StoreUnavailable where the JWKS was never read successfully."""
        if self._needs_refresh(key_id):
            self._refreshed_at = self._clock()
            self._refresh_task = asyncio.create_task(self._refresh())
        if self._refresh_task is not None:
            # All callers share one refresh. It continues when one of them is cancelled.
            await asyncio.shield(self._refresh_task)
        if self._keys is None:
            raise StoreUnavailable("JWTs cannot be verified now; the log of Gieok says why")
        return self._keys.get(key_id)

    def _needs_refresh(self, key_id: str) -> bool:
        is_cached = self._keys is not None and key_id in self._keys
        return self._clock() - self._refreshed_at >= (KEY_TTL_SECONDS if is_cached else MIN_REFRESH_SECONDS)

    async def _refresh(self) -> None:
        """Read the keys. After a failure the old ones stay, and the log says why."""
        jwks = self._settings.jwt_jwks
        try:
            if self._settings.is_jwks_url:
                content = await _fetch(jwks)
            else:
                content = await asyncio.to_thread(lambda: Path(jwks).expanduser().read_bytes())
            self._keys = _usable_keys(content, self._settings.jwt_algorithm)
        except (OSError, ValueError, RuntimeError) as error:
            _log.warning("the keys of jwt_jwks cannot be read: %s", error)


async def _fetch(url: str) -> bytes:
    """GET without following redirects: only the operator chooses the host. OSError says what went wrong."""
    import httpx  # noqa: PLC0415  loaded only where keys are fetched

    content = bytearray()
    try:
        async with (
            httpx.AsyncClient(timeout=FETCH_TIMEOUT_SECONDS) as client,
            client.stream("GET", url) as response,
        ):
            if response.status_code != 200:
                raise OSError(f"the server answered {response.status_code}")
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_JWKS_BYTES:
                    raise OSError(f"the JWKS is longer than {MAX_JWKS_BYTES} bytes")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(type(error).__name__) from error
    return bytes(content)


class _Jwks(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    keys: list[dict[str, Any]]


def _usable_keys(content: bytes, algorithm: str) -> dict[str, jwt.PyJWK]:
    """The keys for this algorithm; others are ignored. ValueError where there is none."""
    keys: dict[str, jwt.PyJWK] = {}
    for entry in _Jwks.model_validate_json(content).keys:
        with suppress(jwt.PyJWTError):  # a key of another type
            key = jwt.PyJWK(entry, algorithm)
            if isinstance(key.key_id, str) and not key.Algorithm.check_key_length(key.key):
                keys[key.key_id] = key
    if not keys:
        raise ValueError(f"it must be a JWKS with a strong public key for {algorithm} that has an id (kid)")
    return keys
