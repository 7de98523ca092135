"""What every answer keeps to, whatever was asked: the wire contract's statuses, codes and forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

CODES = {
    401: {"UNAUTHENTICATED"},
    404: {"NOT_FOUND"},
    409: {"CONFLICT", "PLAN_HASH_MISMATCH", "MEMORY_LIMIT_REACHED", "SESSION_ENDED"},
    413: {"PAYLOAD_TOO_LARGE"},
    422: {"VALIDATION_FAILED", "PLAN_INVALID"},
    429: {"RATE_LIMITED"},
    500: {"STEP_FAILED"},
    502: {"LLM_SUMMARY_FAILED", "MODEL_UNAVAILABLE"},
    503: {"STORE_UNAVAILABLE"},
}
GOOD = {200, 201, 202}
DETAILS = {"at", "step", "expected", "actual"}


def broken(status: int, headers: Mapping[str, str], content: bytes) -> Iterator[str]:
    """What is wrong with an answer, in words; nothing where it keeps to the contract."""
    for name in ("x-request-id", "cache-control", "x-content-type-options"):
        if name not in headers:
            yield f"the header {name} is missing"
    kind = headers.get("content-type", "").partition(";")[0]
    if status in CODES:
        yield from _broken_failure(status, kind, content)
    elif status not in GOOD:
        yield f"{status} is no status of the contract"
    elif kind == "application/json":
        yield from _broken_success(json.loads(content))
    elif kind == "text/event-stream":
        yield from _broken_events(content.decode())
    elif kind == "application/x-ndjson":
        yield from _broken_lines(content.splitlines())
    else:
        yield f"{kind} is no kind of answer"


def _broken_failure(status: int, kind: str, content: bytes) -> Iterator[str]:
    if kind != "application/json":
        yield f"a failure as {kind or 'nothing'}"
        return
    body = json.loads(content)
    if body.get("success") is not False or body.get("error") not in CODES[status]:
        yield f"{status} with success {body.get('success')} and error {body.get('error')}"
    if not isinstance(body.get("message"), str) or not body["message"]:
        yield "a failure without a message"
    if unknown := body.keys() - DETAILS - {"success", "error", "message"}:
        yield f"a failure with {sorted(unknown)}"


def _broken_success(body: dict[str, Any]) -> Iterator[str]:
    if body.get("success") is not True:
        yield "an answer without success: true"


def _broken_events(text: str) -> Iterator[str]:
    names = [part.partition("\n")[0] for part in text.split("\n\n") if part]
    if not names or names[-1] not in ("event: done", "event: error"):
        yield "a stream that neither ends well nor says why not"
    if any(name != "event: token" for name in names[:-1]):
        yield "a stream with another event than token before its end"
    for part in text.split("\n\n")[:-1]:
        data = part.partition("\n")[2]
        if not isinstance(json.loads(data.removeprefix("data: ")), dict):
            yield "an event whose data is no object on one line"


def _broken_lines(lines: list[bytes]) -> Iterator[str]:
    kinds = [json.loads(line)["kind"] for line in lines]
    if kinds[0] != "gieok" or kinds[-1] != "end":
        yield "an export without its first or its last line"
