"""Health checks: `/healthz` for liveness, `/readyz` for readiness."""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

from fastapi import FastAPI, Response
from starlette.responses import JSONResponse

from gieok.app import Gieok
from gieok.errors import GieokError, StoreUnavailable
from gieok.interfaces.rest.gateway.errors import problem_of, respond

_log = logging.getLogger(__name__)

CACHE_SECONDS = 1.0
"""Time for which the result of a check is reused."""
TIMEOUT_SECONDS = 5.0


class Readiness:
    """Whether a request could read its keys and write. It is checked at most once a second."""

    def __init__(self, gieok: Gieok) -> None:
        self._gieok = gieok
        self._lock = asyncio.Lock()
        self._checked_at = -CACHE_SECONDS
        self._problem: StoreUnavailable | None = None

    async def problem(self) -> StoreUnavailable | None:
        """Why a request would fail, or None."""
        async with self._lock:
            if monotonic() - self._checked_at >= CACHE_SECONDS:
                self._problem = await self._check()
                self._checked_at = monotonic()
            return self._problem

    async def _check(self) -> StoreUnavailable | None:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await asyncio.to_thread(self._gieok.vault.check)
                await self._gieok.database.check()
        except GieokError as error:
            reason = str(error)
        except TimeoutError:
            reason = f"no write succeeded within {TIMEOUT_SECONDS:g} s"
        else:
            return None
        _log.warning("not ready: %s", reason)
        return StoreUnavailable(reason)


def add_health(app: FastAPI, gieok: Gieok) -> None:
    """Add `/healthz` and `/readyz`, which need no token."""
    readiness = Readiness(gieok)

    async def healthz() -> Response:
        return JSONResponse({"success": True, "status": "alive"})

    async def readyz() -> Response:
        problem = await readiness.problem()
        if problem is not None:
            return respond(problem_of(problem))
        return JSONResponse({"success": True, "status": "ready"})

    app.add_api_route("/healthz", healthz, methods=["GET"], include_in_schema=False)
    app.add_api_route("/readyz", readyz, methods=["GET"], include_in_schema=False)
