"""The FastAPI application: all routes under /api/v1, and those for clients of OpenAI's API under /v1.

A request passes, from the outside in: `TracingMiddleware` (if tracing is on), `Gateway` (authentication,
limits, body, errors), then its route in `routes/`, whose models are in `schema/`. `server/` runs all of it.
"""

from __future__ import annotations

from fastapi import FastAPI

from gieok import __version__
from gieok.app import Gieok
from gieok.interfaces.console import add_console
from gieok.interfaces.console.page import error_page
from gieok.interfaces.console.session import SignInCodes
from gieok.interfaces.mcp.http import add_mcp
from gieok.interfaces.openai.routes import add_openai
from gieok.interfaces.rest.gateway.errors import add_error_handlers
from gieok.interfaces.rest.gateway.gateway import Gateway
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from gieok.interfaces.rest.gateway.logs import FinishedRequest, RouteTemplates, log_request
from gieok.interfaces.rest.gateway.metrics import Metrics, add_metrics
from gieok.interfaces.rest.gateway.tracing import Tracing, TracingMiddleware
from gieok.interfaces.rest.routes import (
    chat,
    decisions,
    documents,
    me,
    memory,
    operator,
    personas,
    session_log,
    sessions,
    webhooks,
)
from gieok.interfaces.rest.server.docs_page import add_docs
from gieok.interfaces.rest.server.health import add_health

PREFIX = "/api/v1"


def create_app(
    gieok: Gieok,
    options: ServiceOptions,
    metrics: Metrics | None = None,
    tracing: Tracing | None = None,
    sign_in_codes: SignInCodes | None = None,
) -> FastAPI:
    """The application on an open Gieok. The caller closes Gieok after the last request.

    Pass the `metrics` and `tracing` that also observe the cycles of this Gieok. `sign_in_codes` are codes
    that sign in to the web console, for `gieok console`.
    """
    metrics = metrics or Metrics()
    app = FastAPI(
        title="Gieok",
        version=__version__,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # it would contain request data
    )
    app.state.gieok = gieok
    _add_api(app)
    add_openai(app)
    add_health(app, gieok)
    add_metrics(app, gieok, metrics)
    add_docs(app)
    add_console(app, sign_in_codes)
    add_mcp(app)
    add_error_handlers(app)

    def on_finish(request: FinishedRequest) -> None:
        metrics.request(request)
        log_request(request)
        if tracing is not None:
            tracing.request(request)

    app.add_middleware(
        Gateway,
        gieok=gieok,
        options=options,
        templates=RouteTemplates(app),
        on_finish=on_finish,
        error_page=error_page,
    )
    if tracing is not None:
        app.add_middleware(TracingMiddleware, tracing=tracing)
    return app


def _add_api(app: FastAPI) -> None:
    """Add all routes under /api/v1."""
    for routes in (
        memory,
        chat,
        sessions,
        session_log,
        personas,
        decisions,
        documents,
        webhooks,
        me,
        operator,
    ):
        app.include_router(routes.router, prefix=PREFIX)
    app.include_router(me.json_router, prefix=PREFIX)
    app.include_router(personas.file_router, prefix=PREFIX)
