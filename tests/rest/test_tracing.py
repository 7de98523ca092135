"""Spans: one per request and one per cycle inside it, without content."""

from __future__ import annotations

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gieok import Settings
from gieok.interfaces.rest.gateway.tracing import Tracing, tracing_from
from tests.rest.conftest import GENEROUS, serving

TRACE = "0af7651916cd43dd8448eb211c80319c"


def test_a_request_and_its_cycle_continue_the_clients_trace(embedded: Settings) -> None:
    exporter = InMemorySpanExporter()
    tracing = Tracing(SimpleSpanProcessor(exporter))
    with serving(embedded, GENEROUS, tracing=tracing) as server, server.client("secret-ana") as client:
        client.get(
            "/api/v1/memory/load",
            params={"personaId": "secret-mina"},
            headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "X-Request-Id": "mine"},
        )
    spans = {span.name: span for span in exporter.get_finished_spans()}
    request, cycle = spans["GET /api/v1/memory/load"], spans["cycle load_memories"]
    assert request.context is not None
    assert f"{request.context.trace_id:032x}" == TRACE
    assert cycle.parent is not None
    assert cycle.parent.span_id == request.context.span_id
    assert dict(request.attributes or {})["http.response.status_code"] == 200
    assert dict(request.attributes or {})["gieok.request_id"] == "mine"
    assert dict(cycle.attributes or {})["gieok.outcome"] == "succeeded"
    assert "secret" not in "".join(span.to_json() for span in spans.values())


def test_tracing_is_off_without_a_collector() -> None:
    assert tracing_from({}) is None


def test_the_environment_configures_the_collector() -> None:
    tracing = tracing_from({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    assert tracing is not None
    tracing.close()
