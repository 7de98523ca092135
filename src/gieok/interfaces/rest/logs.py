"""What the service writes about itself, on stderr: lines of JSON for machines, plain lines on a terminal.

No line holds a body, a query string, a token, or the name of an owner, who is a short hash here. Of an
exception there is its kind and its place: its text may quote what was being stored.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO, cast

from gieok.interfaces.rest.served import Served, method_of

_access = logging.getLogger("gieok.access")
_REQUEST = "%s %s %d"
_dumps = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def log_request(served: Served) -> None:
    """One line for a request that is over."""
    if _access.isEnabledFor(logging.INFO):
        # Made here: `info` would walk the stack for a line of source that nobody asks for, at each request.
        record = logging.LogRecord(_access.name, logging.INFO, __file__, 0, _REQUEST, _words(served), None)
        record.served = served
        _access.handle(record)


def configure_logging(stream: TextIO) -> None:
    """Send every log of this process to `stream`."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(PlainLines() if stream.isatty() else JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    # What no line shows is not looked up for each of them.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    for chatty in ("uvicorn", "httpx", "httpcore", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """One object of JSON a line."""

    def format(self, record: logging.LogRecord) -> str:
        served: Served | None = getattr(record, "served", None)
        if served is not None:
            return _line_of_request(record, served)
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if error := _error(record):
            line["error"] = error
        return _dumps(line)


class PlainLines(logging.Formatter):
    """A line for a person who watches."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{_second(int(record.created))[11:]} {record.levelname.lower():7} {record.getMessage()}"
        served: Served | None = getattr(record, "served", None)
        if served is not None:
            line += f" {_ms(served)} ms"
        if error := _error(record):
            line += f" ({error})"
        return line


@lru_cache(maxsize=1024)
def short_hash(owner: str) -> str:
    """Tells owners apart in a log without naming them."""
    return hashlib.sha256(owner.encode()).hexdigest()[:12]


def kind_and_place(error: BaseException) -> str:
    """`ValueError at rules.py:7`: what may be told of an error that nobody expected."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + where


def _words(served: Served) -> tuple[str, str, int]:
    return method_of(served), served.route, served.status


def _line_of_request(record: logging.LogRecord, served: Served) -> str:
    """Written out, as there is one for every request: no word in it is a client's, so none needs escaping."""
    method, owner = method_of(served), f'"{short_hash(served.owner)}"' if served.owner else "null"
    return (
        f'{{"time": "{_time(record)}", "level": "info", "logger": "{record.name}", '
        f'"message": "{method} {served.route} {served.status}", "requestId": "{served.request_id}", '
        f'"method": "{method}", "route": "{served.route}", "status": {served.status}, "ms": {_ms(served)}, '
        f'"owner": {owner}}}'
    )


def _ms(served: Served) -> float:
    return round(served.seconds * 1000, 1)


def _time(record: logging.LogRecord) -> str:
    return f"{_second(int(record.created))}.{int(record.msecs):03}Z"


@lru_cache(maxsize=4)
def _second(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _error(record: logging.LogRecord) -> str | None:
    return kind_and_place(record.exc_info[1]) if record.exc_info and record.exc_info[1] else None
