"""The service's log on stderr: JSON lines for machines, text lines on a terminal.

No line contains a body, a query string or a token. An owner appears as a short hash. An exception appears as
its type and place, because its message may quote stored content.
"""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, TextIO

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.types import Scope

from gieok.engine import CycleRecord
from gieok.errors import type_and_place
from gieok.plans import is_shipped

UNMATCHED = "unmatched"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

_access = logging.getLogger("gieok.access")
_to_json = json.JSONEncoder(ensure_ascii=False).encode


class FinishedRequest(NamedTuple):
    """A finished request, for logs, metrics and traces. It contains nothing that the client chose freely."""

    request_id: str
    method: str
    route: str
    """The path template, such as `/api/v1/memory/{memory_id}`."""
    status: int
    """0 if the client disconnected before the response started."""
    seconds: float
    owner: str | None

    @property
    def method_label(self) -> str:
        """The method for a log line or a metric: `other` for an unknown one, since a client may send any."""
        return self.method if self.method in METHODS else "other"


class RouteTemplates:
    """The full path template of each route, by its endpoint function.

    A route in an included router only knows the part of its path inside that router.
    """

    def __init__(self, app: FastAPI) -> None:
        self._paths = {each.endpoint: each.path for each in iter_route_contexts(app.routes)}

    def of(self, scope: Scope) -> str:
        """The template of the route that a request matched, or `unmatched`."""
        return self._paths.get(scope.get("endpoint")) or UNMATCHED


def plan_label(record: CycleRecord) -> str:
    """The plan's name for a metric or a trace: `custom` for a client's own plan, which may have any name."""
    return record.plan_name if is_shipped(record.plan_name) else "custom"


def configure_logging(stream: TextIO) -> None:
    """Send every log of this process to `stream`: as text to a terminal, else as JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if stream.isatty() else JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    # Not in our format, so not worth collecting (https://docs.python.org/3/howto/logging.html#optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    for verbose in ("uvicorn", "httpx", "httpcore", "asyncio", "mcp"):
        logging.getLogger(verbose).setLevel(logging.WARNING)


def log_request(request: FinishedRequest) -> None:
    """Log one line for a finished request."""
    fields = {
        "requestId": request.request_id,
        "method": request.method_label,
        "route": request.route,
        "status": request.status,
        "ms": round(request.seconds * 1000, 1),
        "owner": short_hash(request.owner) if request.owner else None,
    }
    _access.info("%s %s %d", request.method_label, request.route, request.status, extra={"fields": fields})


@lru_cache(maxsize=1024)
def short_hash(owner: str) -> str:
    """A short hash that tells owners apart in a log without naming them."""
    return hashlib.sha256(owner.encode()).hexdigest()[:12]


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if error := _error(record):
            line["error"] = error
        return _to_json(line)


class TextFormatter(logging.Formatter):
    """One line of text for a person at a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{_time(record.created)[11:19]} {record.levelname.lower():7} {record.getMessage()}"
        if fields := getattr(record, "fields", None):
            line += f" {fields['ms']} ms"
        if error := _error(record):
            line += f" ({error})"
        return line


def _time(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _error(record: logging.LogRecord) -> str | None:
    return type_and_place(record.exc_info[1]) if record.exc_info and record.exc_info[1] else None
