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
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import lru_cache
from time import time
from typing import Any, TextIO, cast

from gieok.interfaces.rest.served import Served, method_of

_access = logging.getLogger("gieok.access")
_dumps = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def log_request(served: Served) -> None:
    """One line for a request that is over."""
    if not _access.isEnabledFor(logging.INFO):
        return
    handlers = logging.root.handlers
    if len(handlers) == 1 and isinstance(handlers[0], Lines):
        handlers[0].write_request(served)
    else:
        _access.info("%s %s %d", method_of(served), served.route, served.status)


def configure_logging(stream: TextIO) -> None:
    """Send every log of this process to `stream`."""
    logging.basicConfig(handlers=[Lines(stream)], level=logging.INFO, force=True)
    # What no line shows is not looked up for each of them.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    for chatty in ("uvicorn", "httpx", "httpcore", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


class Lines(logging.StreamHandler[TextIO]):
    """Every log, a line each. Those of requests come by the thousand, and take a shorter way."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self.setFormatter(PlainLines() if stream.isatty() else JsonLines())
        self._line_of = _plain_line if stream.isatty() else _json_line

    def write_request(self, served: Served) -> None:
        """As logging would, without a record that it is made of and taken apart again."""
        line = self._line_of(time(), served)
        try:
            with self.lock or nullcontext():
                self.stream.write(line + self.terminator)
                self.stream.flush()
        except Exception:  # noqa: BLE001  told as logging tells it: a request does not fail for its line
            self.handleError(logging.makeLogRecord({"msg": "a request was not logged"}))


class JsonLines(logging.Formatter):
    """One object of JSON a line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record.created),
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


def _json_line(now: float, served: Served) -> str:
    """Written out: no word in it is a client's, so none needs escaping."""
    method, owner = method_of(served), f'"{short_hash(served.owner)}"' if served.owner else "null"
    return (
        f'{{"time": "{_time(now)}", "level": "info", "logger": "{_access.name}", '
        f'"message": "{method} {served.route} {served.status}", "requestId": "{served.request_id}", '
        f'"method": "{method}", "route": "{served.route}", "status": {served.status}, "ms": {_ms(served)}, '
        f'"owner": {owner}}}'
    )


def _plain_line(now: float, served: Served) -> str:
    what = f"{method_of(served)} {served.route} {served.status}"
    return f"{_second(int(now))[11:]} info    {what} {_ms(served)} ms"


def _ms(served: Served) -> float:
    return round(served.seconds * 1000, 1)


def _time(timestamp: float) -> str:
    second = int(timestamp)
    return f"{_second(second)}.{int((timestamp - second) * 1000):03}Z"


@lru_cache(maxsize=4)
def _second(timestamp: int) -> str:
    return datetime.fromtimestamp(timestamp, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _error(record: logging.LogRecord) -> str | None:
    return kind_and_place(record.exc_info[1]) if record.exc_info and record.exc_info[1] else None
