"""How much the service takes, holds and waits. Every limit has a number, and an operator may change some."""

from __future__ import annotations

from dataclasses import dataclass

from gieok.app.owner_data import MAX_IMPORT_BYTES
from gieok.settings.sections import DEFAULT_SERVICE, ServiceSettings


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """The limits of one process. Seconds are upper bounds, after which a caller is told."""

    body_bytes: int = 1024 * 1024
    """The largest body of JSON."""
    upload_bytes: int = MAX_IMPORT_BYTES
    """The largest body that is read as a stream: an import."""
    body_seconds: float = 20.0
    """Until a body of JSON has arrived."""
    request_seconds: float = 150.0
    """Until an answer is there, or a stream begins; longer than a step may take, so that a step tells its own
    lateness."""
    stream_seconds: float = 900.0
    """From the beginning of a stream to its end."""
    rate_per_second: float = DEFAULT_SERVICE.rate_per_second
    """Requests of one owner, on the long run."""
    rate_burst: int = DEFAULT_SERVICE.rate_burst
    """Requests of one owner at once."""
    requests_at_once: int = 256
    """Requests of all owners that are worked on at the same time."""
    requests_waiting: int = 1024
    """Requests that may wait for one of those places."""
    wait_seconds: float = 5.0
    """For how long they wait."""
    metrics_open: bool = False
    """Answer /metrics without a token to callers on this machine."""


def options_from(settings: ServiceSettings) -> ServiceOptions:
    """The limits that an operator has set, and the defaults for the others."""
    return ServiceOptions(
        rate_per_second=settings.rate_per_second,
        rate_burst=settings.rate_burst,
        metrics_open=settings.metrics_open,
    )
