"""The public keys of a sign-on by their ids, read when first needed and again when they may have changed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import jwt
from pydantic import BaseModel, ConfigDict

from gieok.errors import StoreUnavailable
from gieok.settings.jwt import JwtSettings

RETRY_SECONDS = 60.0
"""A key that is not known is looked for at most this often: anybody can ask for one."""
STALE_SECONDS = 600.0
"""Keys are read anew after this time, so that one which the sign-on has withdrawn is no longer accepted."""
FETCH_SECONDS = 5.0
LONGEST_SET = 1024 * 1024

_log = logging.getLogger(__name__)


class KeySet:
    """What the operator's JWKS holds for the one algorithm."""

    def __init__(self, settings: JwtSettings, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: Mapping[str, jwt.PyJWK] | None = None
        self._tried_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str) -> jwt.PyJWK | None:
        """The key with this id. StoreUnavailable where no keys could ever be read."""
        if self._is_due(key_id):
            self._tried_at = self._clock()
            self._reading = asyncio.create_task(self._refresh())
        if self._reading is not None:
            await asyncio.shield(self._reading)  # one reads for all, and goes on for them if it is cancelled
        if self._keys is None:
            raise StoreUnavailable("JWTs cannot be verified now; the log of this Gieok says why")
        return self._keys.get(key_id)

    def _is_due(self, key_id: str) -> bool:
        is_known = self._keys is not None and key_id in self._keys
        return self._clock() - self._tried_at >= (STALE_SECONDS if is_known else RETRY_SECONDS)

    async def _refresh(self) -> None:
        """Read the keys. Where that fails, those that were read before go on, and the log says so."""
        try:
            self._keys = _usable(await self._read(), self._settings.jwt_algorithm)
        except (OSError, ValueError) as error:
            _log.warning("the keys of jwt_jwks cannot be read: %s", error)

    async def _read(self) -> bytes:
        place = self._settings.jwt_jwks
        return await (_fetch(place) if self._settings.keys_are_fetched else asyncio.to_thread(_load, place))


def _load(path: str) -> bytes:
    return Path(path).expanduser().read_bytes()


async def _fetch(url: str) -> bytes:
    """OSError says why it could not be had. A redirect is not followed: only the operator names the place."""
    import httpx  # noqa: PLC0415  only where keys are fetched

    content = bytearray()
    try:
        async with (
            httpx.AsyncClient(timeout=FETCH_SECONDS) as client,
            client.stream("GET", url) as response,
        ):
            if response.status_code != 200:
                raise OSError(f"it answers {response.status_code}")
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > LONGEST_SET:
                    raise OSError(f"it is longer than {LONGEST_SET} bytes")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(type(error).__name__) from error
    return bytes(content)


class _Jwks(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True)

    keys: list[dict[str, Any]]


def _usable(content: bytes, algorithm: str) -> dict[str, jwt.PyJWK]:
    """The keys for this algorithm. A set may hold others, for other uses; without any, ValueError."""
    keys: dict[str, jwt.PyJWK] = {}
    for entry in _Jwks.model_validate_json(content).keys:
        with suppress(jwt.PyJWTError):  # a key of another kind
            key = jwt.PyJWK(entry, algorithm)
            if isinstance(key.key_id, str) and not key.Algorithm.check_key_length(key.key):
                keys[key.key_id] = key
    if not keys:
        raise ValueError(f"it must be a JWKS with a strong public key for {algorithm} that has an id (kid)")
    return keys
