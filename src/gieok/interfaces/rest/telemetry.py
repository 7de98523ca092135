"""Spans for OpenTelemetry, where OTEL_EXPORTER_OTLP_ENDPOINT names a collector: one a request, one a cycle.

A span holds routes, names of plans, times and counts, and no content. FastAPI's own spans are off: they would
carry what was sent.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from gieok.engine import CycleRecord
from gieok.interfaces.rest.served import Served, method_of, plan_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

_log = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Tracing:
    """Makes spans and hands them to a processor, which exports them."""

    def __init__(self, processor: SpanProcessor) -> None:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  only where spans are wanted
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415

        self._provider = TracerProvider(resource=Resource.create({"service.name": "gieok"}))
        self._provider.add_span_processor(processor)
        self.tracer = self._provider.get_tracer("gieok")

    def request(self, served: Served) -> None:
        """What is known of the request whose span is the current one."""
        from opentelemetry import trace  # noqa: PLC0415

        span = trace.get_current_span()
        span.update_name(f"{method_of(served)} {served.route}")
        span.set_attribute("http.request.method", method_of(served))
        span.set_attribute("http.route", served.route)
        span.set_attribute("http.response.status_code", served.status)
        span.set_attribute("gieok.request_id", served.request_id)

    def cycle(self, record: CycleRecord) -> None:
        """A span for a cycle that is over, inside of its request where it has one."""
        ended_at = record.started_at + timedelta(milliseconds=record.duration_ms)
        span = self.tracer.start_span(
            f"cycle {plan_of(record)}",
            start_time=int(record.started_at.timestamp() * 1e9),
            attributes={
                "gieok.plan": plan_of(record),
                "gieok.plan_hash": record.plan_hash,
                "gieok.outcome": record.outcome,
                "gieok.steps": len(record.steps),
                "gieok.commit_ms": record.commit_ms,
            },
        )
        span.end(int(ended_at.timestamp() * 1e9))

    def close(self) -> None:
        """Send what is left. Blocks for a moment."""
        self._provider.shutdown()


class TracedRequests:
    """ASGI middleware: a span around each request, which goes on the client's trace where it sent one."""

    def __init__(self, app: ASGIApp, tracing: Tracing) -> None:
        self._app = app
        self._tracer = tracing.tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from opentelemetry import propagate, trace  # noqa: PLC0415

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        with self._tracer.start_as_current_span(
            "request",
            context=propagate.extract(headers),
            kind=trace.SpanKind.SERVER,
            record_exception=False,  # the text of an exception may quote what was being stored
            set_status_on_exception=False,
        ):
            await self._app(scope, receive, send)


def tracing_from(environ: Mapping[str, str]) -> Tracing | None:
    """Spans to the collector that the environment names, or none."""
    if not any(environ.get(name) for name in ENDPOINTS):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        _log.warning("a collector is named, but no spans are sent; install gieok[otel]")
        return None
    return Tracing(BatchSpanProcessor(OTLPSpanExporter()))
