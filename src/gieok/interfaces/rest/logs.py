"""What the service writes about itself, on stderr: lines of JSON for machines, plain lines on a terminal.

No line holds a body, a query string, a token, or the name of an owner, who is a short hash here. Of an
exception there is its kind and its place: its text may quote what was being stored.
"""

from __future__ import annotations

import hashlib
import json
import logging
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

from gieok.errors import type_and_place
from gieok.interfaces.rest.served import Served, method_of

_access = logging.getLogger("gieok.access")
_to_json = json.JSONEncoder(ensure_ascii=False).encode


def log_request(served: Served) -> None:
    """Log one line for a finished request."""
    _access.info(
        "%s %s %d", method_of(served), served.route, served.status, extra={"fields": _fields(served)}
    )


def configure_logging(stream: TextIO) -> None:
    """Send every log of this process to `stream`: as text to a terminal, else as JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextFormatter() if stream.isatty() else JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for verbose in ("uvicorn", "httpx", "httpcore", "asyncio"):
        logging.getLogger(verbose).setLevel(logging.WARNING)


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


@lru_cache(maxsize=1024)
def short_hash(owner: str) -> str:
    """A short hash that tells owners apart in a log without naming them."""
    return hashlib.sha256(owner.encode()).hexdigest()[:12]


def _fields(served: Served) -> dict[str, Any]:
    return {
        "requestId": served.request_id,
        "method": method_of(served),
        "route": served.route,
        "status": served.status,
        "ms": round(served.seconds * 1000, 1),
        "owner": short_hash(served.owner) if served.owner else None,
    }


def _time(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _error(record: logging.LogRecord) -> str | None:
    return type_and_place(record.exc_info[1]) if record.exc_info and record.exc_info[1] else None
