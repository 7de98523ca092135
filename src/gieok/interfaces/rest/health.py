"""Whether the service lives, and whether it can do its work now."""

from __future__ import annotations

import asyncio
from time import monotonic

from fastapi import FastAPI, Response
from starlette.responses import JSONResponse

from gieok.app import Gieok
from gieok.errors import StoreUnavailable
from gieok.interfaces.rest.errors import problem_of, respond

FRESH_SECONDS = 1.0
"""For how long one check answers everybody who asks."""
PATIENCE_SECONDS = 5.0


class Readiness:
    """Whether a write is possible now. However many ask, the database is asked once a second."""

    def __init__(self, gieok: Gieok) -> None:
        self._gieok = gieok
        self._lock = asyncio.Lock()
        self._checked_at = -FRESH_SECONDS
        self._problem: StoreUnavailable | None = None

    async def problem(self) -> StoreUnavailable | None:
        """Why a write is not possible, or None."""
        async with self._lock:
            if monotonic() - self._checked_at >= FRESH_SECONDS:
                self._problem = await self._check()
                self._checked_at = monotonic()
            return self._problem

    async def _check(self) -> StoreUnavailable | None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._gieok.database.check()
        except StoreUnavailable as away:
            return away
        except TimeoutError:
            return StoreUnavailable(f"no write went through within {PATIENCE_SECONDS:g} s")
        return None


def add_health(app: FastAPI, gieok: Gieok) -> None:
    """`/healthz` and `/readyz`, which need no token."""
    readiness = Readiness(gieok)

    async def healthz() -> Response:
        return JSONResponse({"success": True, "status": "alive"})

    async def readyz() -> Response:
        away = await readiness.problem()
        return respond(problem_of(away)) if away else JSONResponse({"success": True, "status": "ready"})

    app.add_api_route("/healthz", healthz, methods=["GET"], include_in_schema=False)
    app.add_api_route("/readyz", readyz, methods=["GET"], include_in_schema=False)
