"""Errors of the client: error answers of the service become the exceptions of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import ValidationError

from gieok.errors import (
    Conflict,
    Forbidden,
    GieokError,
    HeadersTooLarge,
    InputRefused,
    MemoryLimitReached,
    ModelUnavailable,
    NotFound,
    OutcomeUnknown,
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

DEFAULT_RETRY_AFTER = 1.0
"""Seconds to wait before a retry if the service does not say."""


class ServiceUnreachable(StoreUnavailable):
    """No answer arrived, or an incomplete one. A call that changes data may have succeeded: check first."""


class AnswerUnknown(GieokError):
    """The server at this address is not Gieok, or a much newer version than this client."""

    code = "ANSWER_UNKNOWN"


def to_error(status: int, content: bytes, headers: Mapping[str, str]) -> GieokError:
    """The exception for an error answer. AnswerUnknown if the answer is not one of Gieok's."""
    try:
        failure = Failure.model_validate_json(content)
    except ValidationError:
        return AnswerUnknown(
            f"the answer has status {status} and does not come from Gieok; check the address, and proxies on "
            "the way to the service"
        )
    error = _KINDS.get(failure.error, _unknown)(failure, _retry_after(headers))
    if request_id := headers.get("x-request-id"):
        error.add_note(f"X-Request-Id: {request_id}")
    return error


def _retry_after(headers: Mapping[str, str]) -> float:
    seconds = headers.get("retry-after", "")
    return float(seconds) if seconds.isascii() and seconds.isdigit() else DEFAULT_RETRY_AFTER


def _plain(kind: type[GieokError]) -> Callable[[Failure, float], GieokError]:
    return lambda failure, _: kind(failure.message)


def _refused(kind: type[InputRefused]) -> Callable[[Failure, float], GieokError]:
    """The message already starts with the place, which the exception adds again."""
    return lambda failure, _: kind(failure.message.removeprefix(f"{failure.at}: "), at=failure.at)


def _unauthenticated(failure: Failure, _: float) -> GieokError:
    error = Unauthenticated()
    error.args = (failure.message,)
    return error


def _plan_hash_mismatch(failure: Failure, _: float) -> GieokError:
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
    PlanHashMismatch.code: _plan_hash_mismatch,
    Forbidden.code: _plain(Forbidden),
    PayloadTooLarge.code: _plain(PayloadTooLarge),
    HeadersTooLarge.code: _plain(HeadersTooLarge),
    InputRefused.code: _refused(InputRefused),
    PlanInvalid.code: _refused(PlanInvalid),
    RateLimited.code: lambda failure, wait: RateLimited(failure.message, wait),
    ModelUnavailable.code: _plain(ModelUnavailable),
    SummaryFailed.code: _plain(SummaryFailed),
    StoreUnavailable.code: _plain(StoreUnavailable),
    OutcomeUnknown.code: _plain(OutcomeUnknown),
    StepFailed.code: _step_failed,
}
"""The exception of each error code. A test compares it with the codes that the service documents."""
