"""Prometheus metrics. Every label has few values: none of them is chosen by a client."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from gieok.access import Principal
from gieok.adapters.sql.stores.jobs import count_due
from gieok.app import Gieok
from gieok.app.background.jobs import runnable_kinds
from gieok.engine import CycleRecord
from gieok.errors import ScopeMissing
from gieok.interfaces.rest.gateway.caller import PRINCIPAL
from gieok.interfaces.rest.gateway.logs import FinishedRequest, plan_label
from gieok.memory.jobs.records import JobKind

METRICS_PATH = "/metrics"
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of prometheus_client: the folder in which several processes share their counts."""
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


class Metrics:
    """The metrics of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "gieok_requests", "Finished requests", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "gieok_request_seconds",
            "Time from a request to the end of its response",
            ["method", "route"],
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._cycles = Counter("gieok_cycles", "Finished cycles", ["plan", "outcome"], registry=self.registry)
        self._cycle_seconds = Histogram(
            "gieok_cycle_seconds",
            "Time from the first step of a cycle to its commit",
            ["plan"],
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._jobs = Counter(
            "gieok_jobs", "Jobs that a worker ran", ["kind", "outcome"], registry=self.registry
        )
        # Looking up a child by its labels takes longer than incrementing it.
        self._requests_of = cache(self._requests.labels)
        self._seconds_of = cache(self._seconds.labels)
        self._cycles_of = cache(self._cycles.labels)
        self._cycle_seconds_of = cache(self._cycle_seconds.labels)

    def request(self, request: FinishedRequest) -> None:
        """Count a finished request."""
        method = request.method_label
        self._requests_of(method, request.route, request.status).inc()
        self._seconds_of(method, request.route).observe(request.seconds)

    def cycle(self, record: CycleRecord) -> None:
        """Count a finished cycle."""
        plan = plan_label(record)
        self._cycles_of(plan, record.outcome).inc()
        self._cycle_seconds_of(plan).observe(record.duration_ms / 1000)

    def job(self, kind: JobKind, succeeded: bool) -> None:
        """Count a job that a worker ran."""
        self._jobs.labels(kind, "done" if succeeded else "failed").inc()

    def exposition(self, jobs_due: int) -> bytes:
        """All metrics in Prometheus' text format, those of the sibling processes included."""
        registry = self.registry
        if SHARED_FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        gauges = CollectorRegistry()
        gauges.register(_JobsDue(jobs_due))
        return generate_latest(registry) + generate_latest(gauges)


class _JobsDue(Collector):
    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def collect(self) -> Iterable[GaugeMetricFamily]:
        yield GaugeMetricFamily("gieok_jobs_due", "Jobs that are due and wait for a worker", value=self._jobs)


def add_metrics(app: FastAPI, gieok: Gieok, metrics: Metrics) -> None:
    """Add `/metrics`. It needs the scope operator, unless the gateway let the request in without a token."""

    async def show(request: Request) -> Response:
        principal: Principal | None = request.scope.get(PRINCIPAL)
        if principal is not None and "operator" not in principal.scopes:
            raise ScopeMissing("operator")
        now = gieok.engine.clock()
        kinds = await runnable_kinds(gieok)
        due = await gieok.database.system_read(lambda tx: count_due(tx, now, kinds), replica=True)
        return Response(metrics.exposition(due), media_type=CONTENT_TYPE_LATEST)

    app.add_api_route(METRICS_PATH, show, methods=["GET"], include_in_schema=False)
