"""Errors as HTTP responses. Only this module knows which status an error has.

The message of an unexpected error never leaves the process: it may quote stored content.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Scope

from gieok.engine.plan import place, without_prefix
from gieok.errors import (
    Conflict,
    Forbidden,
    GieokError,
    HeadersTooLarge,
    InputRefused,
    ModelUnavailable,
    NotFound,
    OutcomeUnknown,
    OwnerErased,
    PayloadTooLarge,
    PlanHashMismatch,
    RateLimited,
    StepFailed,
    StepTimedOut,
    StoreUnavailable,
    Unauthenticated,
    cause_of,
    type_and_place,
)
from gieok.interfaces.rest.gateway.body import BodyTimeout

_log = logging.getLogger(__name__)

STATUS: Mapping[type[GieokError], int] = {
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    PayloadTooLarge: 413,
    InputRefused: 422,
    RateLimited: 429,
    HeadersTooLarge: 431,
    ModelUnavailable: 502,
    StoreUnavailable: 503,
}
"""Errors that a client can act on, with their subclasses. Any other error is 500 STEP_FAILED."""

OPENAI_PREFIX = "/v1/"
"""Paths of the OpenAI-compatible API, whose errors have OpenAI's form."""
NO_SUCH_ROUTE = "there is no such route; see /docs"
REQUEST_ID = "gieok.request_id"
"""Key of the ASGI scope under which the gateway passes the request id."""
ERROR_PAGE = "gieok.error_page"
"""Key of the ASGI scope under which the gateway passes the function that shows an error to a browser."""
WHOLE = "request"
"""The `at` or `step` of an error that concerns the whole request. No step of a plan has this name."""
MAX_PLACE = 200
"""Characters of `at`."""
_MESSAGES: Mapping[str, str] = {
    "missing": "is required",
    "extra_forbidden": "is not a field of this request; remove it, or check its spelling",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
"""Our messages for the most common mistakes, by pydantic's error types."""
_UNEXPECTED = "the service failed unexpectedly; its log has the reason under this X-Request-Id"
_NO_STORE = "the database cannot be reached or cannot write now; nothing was stored, so retry later"
_UNKNOWN_OUTCOME = (
    "the connection to the database broke during the commit, so this was stored completely or not at all; "
    "look, or repeat the request with the same Idempotency-Key"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as the client sees it."""

    status: int
    code: str
    message: str
    details: Mapping[str, str]
    """`at` of an InputRefused, `step` of a StepFailed, `expected` and `actual` of a PlanHashMismatch."""
    headers: Mapping[str, str]

    @property
    def body(self) -> dict[str, Any]:
        return {"success": False, "error": self.code, "message": self.message, **self.details}

    @property
    def openai_body(self) -> dict[str, Any]:
        """The body in OpenAI's form. Its clients know `invalid_api_key` and `rate_limit_exceeded`."""
        known = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
        kinds = {429: "rate_limit_error", 500: "server_error", 502: "server_error", 503: "server_error"}
        return {
            "error": {
                "message": self.message,
                "type": kinds.get(self.status, "invalid_request_error"),
                "param": self.details.get("at"),
                "code": known.get(self.status, self.code.lower()),
            }
        }


ErrorPage = Callable[[Scope, Problem], Response]


def problem_of(error: BaseException) -> Problem:
    """Any error as the client sees it. A failed step is answered like its cause, if that has a status."""
    if isinstance(error, StepFailed):
        return _problem_of_step(error)
    if isinstance(error, OwnerErased):
        return problem_of(Unauthenticated())
    if isinstance(error, OutcomeUnknown):
        return Problem(503, error.code, _UNKNOWN_OUTCOME, {}, {})
    if isinstance(error, StoreUnavailable):
        return Problem(503, error.code, _NO_STORE, {}, {})  # its own message names the operator's files
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            return Problem(status, error.code, str(error), _details(error), _headers(error))
    return request_failed(_UNEXPECTED)


def request_failed(message: str) -> Problem:
    """STEP_FAILED for the request as a whole, not for a step of a plan."""
    return Problem(500, StepFailed.code, message, {"step": WHOLE}, {})


def respond(problem: Problem, scope: Scope | None = None) -> Response:
    """The response to a failed request: JSON in the form of its API, or a page if the gateway has set one."""
    error_page: ErrorPage | None = scope.get(ERROR_PAGE) if scope is not None else None
    if scope is not None and error_page is not None:
        return error_page(scope, problem)
    is_openai = scope is not None and scope["path"].startswith(OPENAI_PREFIX)
    body = problem.openai_body if is_openai else problem.body
    content = json.dumps(body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(content, problem.status, dict(problem.headers), "application/json")


def log_problem(error: BaseException, request_id: str) -> Problem:
    """Any error as the client sees it. Logs what the operator has to know about it."""
    problem = problem_of(error)
    if problem.status == 500:
        log_unexpected(error, request_id)
    elif problem.status == 503:
        _log.warning("request %s: %s", request_id, error)
    return problem


def log_unexpected(error: BaseException, request_id: str) -> None:
    """Log an error that is answered with 500: its type and place, without its message."""
    _log.error("request %s failed unexpectedly: %s", request_id, type_and_place(cause_of(error)))


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error of a route in the error format of the API."""
    app.add_exception_handler(GieokError, _answer_gieok_error)
    app.add_exception_handler(RequestValidationError, _answer_validation_error)
    app.add_exception_handler(HTTPException, _answer_http_error)


def describe_invalid(problem: Mapping[str, Any]) -> str:
    """The message for an error that pydantic found in a request."""
    return _MESSAGES.get(problem["type"]) or without_prefix(problem["msg"])


def _problem_of_step(failed: StepFailed) -> Problem:
    cause = cause_of(failed)
    if isinstance(cause, GieokError) and not isinstance(cause, StepFailed):
        problem = problem_of(cause)
        if problem.status < 500 or problem.code != StepFailed.code:
            return problem
    timed_out = isinstance(failed, StepTimedOut)
    message = str(failed) if timed_out else f"step '{failed.step}' failed, so nothing was stored"
    return Problem(500, failed.code, message, {"step": failed.step}, {})


def _details(error: GieokError) -> dict[str, str]:
    if isinstance(error, InputRefused):
        return {"at": error.at or WHOLE}
    if isinstance(error, PlanHashMismatch):
        return {"expected": error.expected, "actual": error.actual}
    return {}


def _headers(error: GieokError) -> dict[str, str]:
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, BodyTimeout):
        return {"Connection": "close"}
    if isinstance(error, RateLimited):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    return {}


async def _answer_gieok_error(request: Request, error: Exception) -> Response:
    return respond(log_problem(error, request.scope[REQUEST_ID]), request.scope)


async def _answer_validation_error(request: Request, error: Exception) -> Response:
    first = cast(RequestValidationError, error).errors()[0]
    # The first part is body, query, path or header.
    at = place(tuple(first["loc"])[1:])[:MAX_PLACE] if len(first["loc"]) > 1 else None
    return respond(problem_of(InputRefused(describe_invalid(first), at=at)), request.scope)


async def _answer_http_error(request: Request, error: Exception) -> Response:
    """Errors of FastAPI itself: an unknown path, an unknown method, or a body that it cannot read."""
    is_unknown = cast(HTTPException, error).status_code in (404, 405)
    own = NotFound(NO_SUCH_ROUTE) if is_unknown else InputRefused("the request cannot be read")
    return respond(problem_of(own), request.scope)
