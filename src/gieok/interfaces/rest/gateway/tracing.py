"""OpenTelemetry spans, one per request and one per cycle, if OTEL_EXPORTER_OTLP_ENDPOINT names a collector.

A span contains routes, plan names, times and counts, and no content. FastAPI's own spans are off, because
they would contain request data.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from gieok.engine import CycleRecord
from gieok.interfaces.rest.gateway.logs import FinishedRequest, plan_label

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

_log = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Tracing:
    """Creates spans and passes them to a processor, which exports them."""

    def __init__(self, processor: SpanProcessor) -> None:
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  an optional dependency
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415

        self._provider = TracerProvider(resource=Resource.create({"service.name": "gieok"}))
        self._provider.add_span_processor(processor)
        self.tracer = self._provider.get_tracer("gieok")

    def request(self, request: FinishedRequest) -> None:
        """Set the attributes of the current span, which is that of the request."""
        from opentelemetry import trace  # noqa: PLC0415

        span = trace.get_current_span()
        span.update_name(f"{request.method_label} {request.route}")
        span.set_attribute("http.request.method", request.method_label)
        span.set_attribute("http.route", request.route)
        span.set_attribute("http.response.status_code", request.status)
        span.set_attribute("gieok.request_id", request.request_id)

    def cycle(self, record: CycleRecord) -> None:
        """Record the span of a finished cycle, inside the span of its request if there is one."""
        ended_at = record.started_at + timedelta(milliseconds=record.duration_ms)
        span = self.tracer.start_span(
            f"cycle {plan_label(record)}",
            start_time=int(record.started_at.timestamp() * 1e9),
            attributes={
                "gieok.plan": plan_label(record),
                "gieok.plan_hash": record.plan_hash,
                "gieok.outcome": record.outcome,
                "gieok.steps": len(record.steps),
                "gieok.commit_ms": record.commit_ms,
            },
        )
        span.end(int(ended_at.timestamp() * 1e9))

    def close(self) -> None:
        """Export the remaining spans. Blocks for a moment."""
        self._provider.shutdown()


class TracingMiddleware:
    """A span around each request. It continues the client's trace if the request has a traceparent header."""

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
            record_exception=False,  # the message of an exception may quote stored content
            set_status_on_exception=False,
        ):
            await self._app(scope, receive, send)


def tracing_from(environ: Mapping[str, str]) -> Tracing | None:
    """Tracing to the collector that the environment names, or None."""
    if not any(environ.get(name) for name in ENDPOINTS):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        _log.warning("an OpenTelemetry collector is configured, but spans are not sent; install gieok[otel]")
        return None
    return Tracing(BatchSpanProcessor(OTLPSpanExporter()))
