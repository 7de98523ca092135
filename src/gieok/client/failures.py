"""What a service says when a call does not succeed, as the error that the library itself would raise."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import ValidationError

from gieok.errors import (
    Conflict,
    GieokError,
    InputRefused,
    MemoryLimitReached,
    ModelUnavailable,
    NotFound,
    PayloadTooLarge,
    PlanHashMismatch,
    PlanInvalid,
    RateLimited,
    SessionEnded,
    StepFailed,
    StoreUnavailable,
    SummaryFailed,
    Unauthenticated,
)
from gieok.wire import Failure

DEFAULT_WAIT = 1.0
"""Seconds to wait before a call is tried again, where the service does not say."""


class ServiceUnreachable(StoreUnavailable):
    """No answer came, or half of one. A call that changes something may have taken effect: look first."""


class AnswerUnknown(GieokError):
    """What answers at this address is no Gieok, or one that is much newer than this client."""

    code = "ANSWER_UNKNOWN"


def error_of(status: int, content: bytes, headers: Mapping[str, str]) -> GieokError:
    """The error that an answer stands for. AnswerUnknown where it is not worded as Gieok words them."""
    try:
        failure = Failure.model_validate_json(content)
    except ValidationError:
        return AnswerUnknown(
            f"the answer has status {status} and is not one of Gieok's; check the address, and what stands "
            "between here and the service"
        )
    error = _KINDS.get(failure.error, _unknown)(failure, _wait(headers))
    if request_id := headers.get("x-request-id"):
        error.add_note(f"X-Request-Id: {request_id}")
    return error


def _wait(headers: Mapping[str, str]) -> float:
    seconds = headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() else DEFAULT_WAIT


def _plain(kind: type[GieokError]) -> Callable[[Failure, float], GieokError]:
    return lambda failure, _: kind(failure.message)


def _refused(kind: type[InputRefused]) -> Callable[[Failure, float], GieokError]:
    """The message of the service begins with the place, as the error itself will put it again."""
    return lambda failure, _: kind(failure.message.removeprefix(f"{failure.at}: "), at=failure.at)


def _unauthenticated(failure: Failure, _: float) -> GieokError:
    error = Unauthenticated()
    error.args = (failure.message,)
    return error


def _other_plan(failure: Failure, _: float) -> GieokError:
    return PlanHashMismatch(failure.expected or "", failure.actual or "")


def _step_failed(failure: Failure, _: float) -> GieokError:
    error = StepFailed(failure.step or "", GieokError(failure.message))
    error.args = (failure.message,)
    return error


def _unknown(failure: Failure, _: float) -> GieokError:
    return AnswerUnknown(f"{failure.message} [{failure.error}]")


_KINDS: Mapping[str, Callable[[Failure, float], GieokError]] = {
    Unauthenticated.code: _unauthenticated,
    NotFound.code: _plain(NotFound),
    Conflict.code: _plain(Conflict),
    MemoryLimitReached.code: _plain(MemoryLimitReached),
    SessionEnded.code: _plain(SessionEnded),
    PlanHashMismatch.code: _other_plan,
    PayloadTooLarge.code: _plain(PayloadTooLarge),
    InputRefused.code: _refused(InputRefused),
    PlanInvalid.code: _refused(PlanInvalid),
    RateLimited.code: lambda failure, wait: RateLimited(failure.message, wait),
    ModelUnavailable.code: _plain(ModelUnavailable),
    SummaryFailed.code: _plain(SummaryFailed),
    StoreUnavailable.code: _plain(StoreUnavailable),
    StepFailed.code: _step_failed,
}
"""How each code of the wire becomes an error; a test holds it against the codes that the service has."""
