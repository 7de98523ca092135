"""The contract of every answer: statuses, headers, error codes and formats."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

CODES = {
    401: {"UNAUTHENTICATED"},
    403: {"FORBIDDEN"},
    404: {"NOT_FOUND"},
    409: {"CONFLICT", "PLAN_HASH_MISMATCH", "MEMORY_LIMIT_REACHED", "SESSION_ENDED"},
    413: {"PAYLOAD_TOO_LARGE"},
    422: {"VALIDATION_FAILED", "PLAN_INVALID"},
    429: {"RATE_LIMITED"},
    431: {"HEADERS_TOO_LARGE"},
    500: {"STEP_FAILED"},
    502: {"LLM_SUMMARY_FAILED", "MODEL_UNAVAILABLE"},
    503: {"STORE_UNAVAILABLE", "OUTCOME_UNKNOWN"},
}
GOOD = {200, 201, 202}
DETAILS = {"at", "step", "expected", "actual"}


def violations(status: int, headers: Mapping[str, str], content: bytes) -> Iterator[str]:
    """How an answer violates the contract. Empty if it does not."""
    for name in ("x-request-id", "cache-control", "x-content-type-options"):
        if name not in headers:
            yield f"the header {name} is missing"
    kind = headers.get("content-type", "").partition(";")[0]
    if status in CODES:
        yield from _failure_violations(status, kind, content)
    elif status not in GOOD:
        yield f"{status} is not a status of the contract"
    elif kind == "application/json":
        yield from _success_violations(json.loads(content))
    elif kind == "text/event-stream":
        yield from _event_violations(content.decode())
    elif kind == "application/x-ndjson":
        yield from _line_violations(content.splitlines())
    else:
        yield f"{kind} is not a content type of the contract"


def _failure_violations(status: int, kind: str, content: bytes) -> Iterator[str]:
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


def _success_violations(body: dict[str, Any]) -> Iterator[str]:
    if body.get("success") is not True:
        yield "a success without success: true"


def _event_violations(text: str) -> Iterator[str]:
    names = [part.partition("\n")[0] for part in text.split("\n\n") if part]
    if not names or names[-1] not in ("event: done", "event: error"):
        yield "a stream without a final done or error event"
    if any(name != "event: token" for name in names[:-1]):
        yield "a stream with an event other than token before its end"
    for part in text.split("\n\n")[:-1]:
        data = part.partition("\n")[2]
        if not isinstance(json.loads(data.removeprefix("data: ")), dict):
            yield "an event whose data is not a JSON object on one line"


def _line_violations(lines: list[bytes]) -> Iterator[str]:
    kinds = [json.loads(line)["kind"] for line in lines]
    if kinds[0] != "gieok" or kinds[-1] != "end":
        yield "an export without its first or its last line"
