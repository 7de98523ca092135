"""What is counted, as Prometheus reads it. Every label has few values: nothing in it is a client's choice."""

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
from gieok.engine import CycleRecord
from gieok.errors import ScopeMissing
from gieok.interfaces.rest.caller import PRINCIPAL
from gieok.interfaces.rest.served import Served, method_of, plan_of
from gieok.interfaces.rest.target import METRICS
from gieok.memory.jobs.records import JobKind

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which processes that serve together find where they count together."""
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


class Metrics:
    """The counts of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "gieok_requests", "Requests that are over", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "gieok_request_seconds",
            "From a request to the end of its answer",
            ["method", "route"],
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._cycles = Counter("gieok_cycles", "Cycles that ran", ["plan", "outcome"], registry=self.registry)
        self._cycle_seconds = Histogram(
            "gieok_cycle_seconds",
            "From the first step to the commit",
            ["plan"],
            registry=self.registry,
            buckets=BUCKETS,
        )
        self._jobs = Counter(
            "gieok_jobs", "Jobs that were taken up", ["kind", "outcome"], registry=self.registry
        )
        # Labels have few values, and to look up the count of each takes longer than to add to it.
        self._requests_of = cache(self._requests.labels)
        self._seconds_of = cache(self._seconds.labels)
        self._cycles_of = cache(self._cycles.labels)
        self._cycle_seconds_of = cache(self._cycle_seconds.labels)

    def request(self, served: Served) -> None:
        """Count a request."""
        method = method_of(served)
        self._requests_of(method, served.route, served.status).inc()
        self._seconds_of(method, served.route).observe(served.seconds)

    def cycle(self, record: CycleRecord) -> None:
        """Count a cycle."""
        plan = plan_of(record)
        self._cycles_of(plan, record.outcome).inc()
        self._cycle_seconds_of(plan).observe(record.duration_ms / 1000)

    def job(self, kind: JobKind, went_well: bool) -> None:
        """Count a job that a worker took up."""
        self._jobs.labels(kind, "done" if went_well else "failed").inc()

    def exposition(self, jobs_due: int) -> bytes:
        """All counts as text; those of the processes beside this one too."""
        registry = self.registry
        if SHARED_FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        waiting = CollectorRegistry()
        waiting.register(_Waiting(jobs_due))
        return generate_latest(registry) + generate_latest(waiting)


class _Waiting(Collector):
    def __init__(self, jobs: int) -> None:
        self._jobs = jobs

    def collect(self) -> Iterable[GaugeMetricFamily]:
        yield GaugeMetricFamily("gieok_jobs_due", "Jobs whose time has come and that wait", value=self._jobs)


def add_metrics(app: FastAPI, gieok: Gieok, metrics: Metrics) -> None:
    """`/metrics`, for a token that may read, or for this machine where the operator has opened it."""

    async def show(request: Request) -> Response:
        principal: Principal | None = request.scope.get(PRINCIPAL)
        if principal is not None and "read" not in principal.scopes:
            raise ScopeMissing("read")
        now = gieok.engine.clock()
        due = await gieok.database.system_read(lambda tx: count_due(tx, now))
        return Response(metrics.exposition(due), media_type=CONTENT_TYPE_LATEST)

    app.add_api_route(METRICS, show, methods=["GET"], include_in_schema=False)
