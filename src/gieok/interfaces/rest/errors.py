"""What an error is on the wire. Only this file knows which status an error has.

No message of an unexpected error leaves the process: it may quote what was being stored.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from gieok.engine.plan import own_words, place
from gieok.errors import (
    Conflict,
    GieokError,
    InputRefused,
    ModelUnavailable,
    NotFound,
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
from gieok.interfaces.rest.body import BodyLate

_log = logging.getLogger(__name__)

STATUS: Mapping[type[GieokError], int] = {
    Unauthenticated: 401,
    NotFound: 404,
    Conflict: 409,
    PayloadTooLarge: 413,
    InputRefused: 422,
    RateLimited: 429,
    ModelUnavailable: 502,
    StoreUnavailable: 503,
}
"""Errors that a client can act on; the kinds of an error answer like it. Any other is 500 STEP_FAILED."""

NO_SUCH_CALL = "there is no such call; /docs lists them all"
REQUEST_ID = "gieok.request_id"
"""Where the door leaves the id of a request: a key of the ASGI scope."""
WHOLE = "request"
"""The place, or the step, of what went wrong with a request as a whole. No step of a plan has this name."""
LONGEST_PLACE = 200
_WORDS: Mapping[str, str] = {
    "missing": "is missing; give it",
    "extra_forbidden": "is no field of this call; leave it out, or look at its spelling",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
"""What is said of the commonest mistakes, by pydantic's names of them."""
_UNEXPECTED = "this did not go through, for a reason inside the service; its log has it under X-Request-Id"
_STORE_AWAY = "the database cannot be reached or cannot write now; nothing was stored, so try again later"


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as a client sees it."""

    status: int
    code: str
    message: str
    details: Mapping[str, str]
    """`at` of what was refused, `step` of what failed, `expected` and `actual` of two plans."""
    headers: Mapping[str, str]

    @property
    def body(self) -> dict[str, Any]:
        return {"success": False, "error": self.code, "message": self.message, **self.details}


def problem_of(error: BaseException) -> Problem:
    """Any error as a client sees it. What happened inside a step is told by its cause."""
    if isinstance(error, StepFailed):
        return _problem_of_step(error)
    if isinstance(error, OwnerErased):
        return problem_of(Unauthenticated())
    if isinstance(error, StoreUnavailable):
        return Problem(503, error.code, _STORE_AWAY, {}, {})  # its own words name the operator's files
    for kind, status in STATUS.items():
        if isinstance(error, kind):
            return Problem(status, error.code, str(error), _details(error), _headers(error))
    return failed_outside_steps(_UNEXPECTED)


def failed_outside_steps(message: str) -> Problem:
    """STEP_FAILED where no step of a plan is to blame."""
    return Problem(500, StepFailed.code, message, {"step": WHOLE}, {})


def respond(problem: Problem) -> Response:
    """The answer to a request that failed."""
    content = json.dumps(problem.body, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(content, problem.status, dict(problem.headers), "application/json")


def told(error: BaseException, request_id: str) -> Problem:
    """The same, and what the operator must know of it is in the log."""
    problem = problem_of(error)
    if problem.status == 500:
        log_unexpected(error, request_id)
    elif problem.status == 503:
        _log.warning("request %s: %s", request_id, error)
    return problem


def log_unexpected(error: BaseException, request_id: str) -> None:
    """Tell the operator of an error that is answered with 500: its kind and place, and no word of it."""
    _log.error("request %s failed unexpectedly: %s", request_id, type_and_place(cause_of(error)))


def answer_errors(app: FastAPI) -> None:
    """Have every error of a route answered in the form of the contract."""
    app.add_exception_handler(GieokError, _answer_own)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)


def _problem_of_step(failed: StepFailed) -> Problem:
    cause = cause_of(failed)
    if isinstance(cause, GieokError) and not isinstance(cause, StepFailed):
        problem = problem_of(cause)
        if problem.status < 500 or problem.code != StepFailed.code:
            return problem
    late = isinstance(failed, StepTimedOut)
    message = str(failed) if late else f"step '{failed.step}' failed, so nothing of this was stored"
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
    if isinstance(error, BodyLate):
        return {"Connection": "close"}
    if isinstance(error, RateLimited):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    return {}


async def _answer_own(request: Request, error: Exception) -> Response:
    return respond(told(error, request.scope[REQUEST_ID]))


async def _answer_invalid(_request: Request, error: Exception) -> Response:
    first = cast(RequestValidationError, error).errors()[0]
    # The first part says which part of the request it is: body, query, path or header.
    at = place(tuple(first["loc"])[1:])[:LONGEST_PLACE] if len(first["loc"]) > 1 else None
    message = _WORDS.get(first["type"]) or own_words(first["msg"])
    return respond(problem_of(InputRefused(message, at=at)))


async def _answer_http(_request: Request, error: Exception) -> Response:
    """The framework's own: an unknown path, a method that it does not have, or a body that it cannot read."""
    unknown = cast(HTTPException, error).status_code in (404, 405)
    return respond(problem_of(NotFound(NO_SUCH_CALL) if unknown else InputRefused("cannot be read")))
