"""The application: every route under /api/v1, behind one door."""

from __future__ import annotations

from fastapi import FastAPI

from gieok import __version__
from gieok.app import Gieok
from gieok.interfaces.rest.docs_page import add_docs
from gieok.interfaces.rest.door import Door
from gieok.interfaces.rest.errors import answer_errors
from gieok.interfaces.rest.health import add_health
from gieok.interfaces.rest.logs import log_request
from gieok.interfaces.rest.metrics import Metrics, add_metrics
from gieok.interfaces.rest.options import ServiceOptions
from gieok.interfaces.rest.routes import chat, decisions, evidence, jobs, me, memory, personas, sessions
from gieok.interfaces.rest.served import Served, Templates
from gieok.interfaces.rest.telemetry import TracedRequests, Tracing

PREFIX = "/api/v1"


def create_app(
    gieok: Gieok,
    options: ServiceOptions,
    metrics: Metrics | None = None,
    tracing: Tracing | None = None,
) -> FastAPI:
    """The service on an open Gieok, which the caller closes after the last request.

    `metrics` and `tracing` are those that also hear of the cycles of this Gieok.
    """
    counted = metrics or Metrics()
    app = FastAPI(
        title="Gieok",
        version=__version__,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # its own would carry what was sent
    )
    app.state.gieok = gieok
    for routes in (memory, chat, sessions, jobs, personas, decisions, evidence, me):  # the busiest first
        app.include_router(routes.router, prefix=PREFIX)
    add_health(app, gieok)
    add_metrics(app, gieok, counted)
    add_docs(app)
    answer_errors(app)

    def watch(served: Served) -> None:
        counted.request(served)
        log_request(served)
        if tracing is not None:
            tracing.request(served)

    app.add_middleware(Door, gieok=gieok, options=options, templates=Templates(app), watch=watch)
    if tracing is not None:
        app.add_middleware(TracedRequests, tracing=tracing)
    return app
