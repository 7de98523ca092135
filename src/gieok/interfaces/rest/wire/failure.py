"""What a client gets when a call does not succeed, and the table of it for the documentation."""

from __future__ import annotations

from typing import Any

from gieok import wire
from gieok.interfaces.rest.wire.base import example


class Failure(wire.Failure):
    """Every answer of a call that did not succeed. `error` is for programs, `message` for people."""

    model_config = example(success=False, error="NOT_FOUND", message="no such persona")


_CODES: dict[int, tuple[str, ...]] = {
    401: ("UNAUTHENTICATED",),
    404: ("NOT_FOUND",),
    409: ("CONFLICT", "PLAN_HASH_MISMATCH", "MEMORY_LIMIT_REACHED", "SESSION_ENDED"),
    413: ("PAYLOAD_TOO_LARGE",),
    422: ("VALIDATION_FAILED", "PLAN_INVALID"),
    429: ("RATE_LIMITED",),
    500: ("STEP_FAILED",),
    502: ("LLM_SUMMARY_FAILED", "MODEL_UNAVAILABLE"),
    503: ("STORE_UNAVAILABLE",),
}
_ANYWHERE = (401, 413, 422, 429, 500, 503)


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The failures of a route: those that any call can meet, and these."""
    return {
        status: {"model": Failure, "description": " or ".join(f"`{code}`" for code in _CODES[status])}
        for status in sorted({*_ANYWHERE, *statuses})
    }
