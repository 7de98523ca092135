"""Every error that Gieok raises on purpose.

    GieokError
    ├── InputRefused            VALIDATION_FAILED    an argument is invalid; nothing was changed
    │   └── PlanInvalid         PLAN_INVALID         a plan cannot run, with the place that is wrong
    ├── SettingsInvalid         SETTINGS_INVALID     an environment variable or gieok.toml is wrong
    ├── Unauthenticated         UNAUTHENTICATED      the token is missing, unknown, expired or revoked
    ├── Forbidden               FORBIDDEN            the caller may not do this
    │   └── ScopeMissing        FORBIDDEN            the token is valid but lacks the scope
    ├── PayloadTooLarge         PAYLOAD_TOO_LARGE    the request body is too large
    ├── HeadersTooLarge         HEADERS_TOO_LARGE    the request line and headers are too large
    ├── RateLimited             RATE_LIMITED         too many calls, or a budget is used up; retry later
    ├── NotFound                NOT_FOUND            this owner has no such thing
    ├── Conflict                CONFLICT             a concurrent change, or the id is taken
    │   ├── MemoryLimitReached  MEMORY_LIMIT_REACHED the limit of active memories is reached
    │   ├── PlanHashMismatch    PLAN_HASH_MISMATCH   a session was resumed with another plan
    │   └── SessionEnded        SESSION_ENDED        the session has ended
    ├── StepFailed              STEP_FAILED          a step failed; nothing of its cycle was stored
    │   └── StepTimedOut        STEP_FAILED          a step took too long
    ├── ModelUnavailable        MODEL_UNAVAILABLE    the language model gave no usable answer
    │   └── SummaryFailed       LLM_SUMMARY_FAILED   a conversation was not summarised; its messages are kept
    ├── StoreUnavailable        STORE_UNAVAILABLE    the database cannot be reached or cannot write
    │   └── OutcomeUnknown      OUTCOME_UNKNOWN      the connection broke during the commit
    ├── DeliveryFailed          DELIVERY_FAILED      events could not be delivered to a consumer
    ├── StoreDamaged            STORE_DAMAGED        stored data was altered or is missing
    ├── SchemaMismatch          SCHEMA_MISMATCH      the database has the schema of another version
    └── VaultError              VAULT_ERROR
        ├── RootKeyMissing      ROOT_KEY_MISSING     sealed data exists, but its root key is missing
        ├── RootKeyUnsafe       ROOT_KEY_UNSAFE      the root key is malformed or readable by others
        ├── RootKeyMismatch     ROOT_KEY_MISMATCH    the root key is not the one of this data
        ├── SealBroken          SEAL_BROKEN          sealed data was altered or moved
        └── OwnerErased         OWNER_ERASED         the owner was erased and the key destroyed

A message names the thing, the place and the remedy. No message contains stored content.
"""

from __future__ import annotations

import os
import traceback
from typing import ClassVar, cast


class GieokError(Exception):
    """The base class. `code` is for programs, the message is for people."""

    code: ClassVar[str] = "INTERNAL"


class InputRefused(GieokError):
    """An argument is invalid. `at` is the field or place that is wrong, if known."""

    code = "VALIDATION_FAILED"

    def __init__(self, message: str, at: str | None = None) -> None:
        super().__init__(f"{at}: {message}" if at else message)
        self.at = at


class PlanInvalid(InputRefused):
    """A plan cannot run. `at` is the place in the plan (`steps[2].inputs.summary`)."""

    code = "PLAN_INVALID"


class SettingsInvalid(GieokError):
    """An environment variable or a value in gieok.toml is invalid."""

    code = "SETTINGS_INVALID"


class Unauthenticated(GieokError):
    """The token is malformed, unknown, revoked, expired, or of an erased owner. It does not say which."""

    code = "UNAUTHENTICATED"

    def __init__(self) -> None:
        super().__init__("the token is missing, unknown, expired or revoked; ask the operator for a new one")


class Forbidden(GieokError):
    """The caller is known but may not do this."""

    code = "FORBIDDEN"


class ScopeMissing(Forbidden):
    """The token is valid but lacks the scope for this call."""

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"this token lacks the scope '{scope}', which this call needs; create one with "
            f"`gieok token create --user NAME --scope {scope}`"
        )
        self.scope = scope


class PayloadTooLarge(GieokError):
    """The request is too large. Send it in parts."""

    code = "PAYLOAD_TOO_LARGE"


class HeadersTooLarge(GieokError):
    """The request line and the headers are too large, or there are too many headers."""

    code = "HEADERS_TOO_LARGE"


class RateLimited(GieokError):
    """Too many calls, or a budget is used up. Retry after `retry_after` seconds."""

    code = "RATE_LIMITED"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotFound(GieokError):
    """This owner has no such thing. Things of other owners give the same error."""

    code = "NOT_FOUND"


class Conflict(GieokError):
    """Another writer changed it at the same time, or the id is taken. Read it again and retry."""

    code = "CONFLICT"


class MemoryLimitReached(Conflict):
    """The limit of active memories is reached, and no other memory may be archived for this one."""

    code = "MEMORY_LIMIT_REACHED"


class PlanHashMismatch(Conflict):
    """The session last ran another plan."""

    code = "PLAN_HASH_MISMATCH"

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(
            f"this session last ran plan {expected}, and the plan given is {actual}; "
            "resume it with its own plan, or move the session to the new plan"
        )
        self.expected = expected
        self.actual = actual


class SessionEnded(Conflict):
    """The session has ended. Start a new one, which can recall it."""

    code = "SESSION_ENDED"


class StepFailed(GieokError):
    """A step failed, so nothing of its cycle was stored. `cause` is the error of the step."""

    code = "STEP_FAILED"

    def __init__(self, step: str, cause: BaseException) -> None:
        detail = str(cause) if isinstance(cause, GieokError) else type(cause).__name__
        super().__init__(f"step '{step}' failed and nothing of this cycle was stored: {detail}")
        self.step = step
        self.cause = cause


class StepTimedOut(StepFailed):
    """A step exceeded its time limit."""

    def __init__(self, step: str, seconds: float) -> None:
        super().__init__(step, TimeoutError())
        self.args = (f"step '{step}' ran longer than {seconds:g} s, so nothing of this cycle was stored",)
        self.seconds = seconds


class ModelUnavailable(GieokError):
    """The language model could not be reached or gave no usable answer.

    `retry_after` is the provider's Retry-After in seconds, if it sent one.
    """

    code = "MODEL_UNAVAILABLE"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SummaryFailed(ModelUnavailable):
    """The model could not summarise a conversation. Its messages are kept; retry later."""

    code = "LLM_SUMMARY_FAILED"


class StoreUnavailable(GieokError):
    """The database cannot be reached, is locked for too long, is read-only, or its disk is full."""

    code = "STORE_UNAVAILABLE"


class OutcomeUnknown(StoreUnavailable):
    """The connection to the database broke during the commit: everything of the cycle was stored, or nothing.

    Read the data to find out, or repeat the request with the same idempotency key.
    """

    code = "OUTCOME_UNKNOWN"


class DeliveryFailed(GieokError):
    """A consumer could not take events. `delivered` of them were taken; the next one is tried again unless
    the failure is final."""

    code = "DELIVERY_FAILED"

    def __init__(
        self, message: str, delivered: int = 0, *, is_final: bool = False, reason: str = "DELIVERY_FAILED"
    ) -> None:
        """`reason` is what a dead letter shows as its error, such as `TIMEOUT`."""
        super().__init__(message)
        self.delivered = delivered
        self.is_final = is_final
        self.reason = reason


class StoreDamaged(GieokError):
    """Stored data was altered or is missing. There is no partial result."""

    code = "STORE_DAMAGED"


class SchemaMismatch(GieokError):
    """The database has a schema that this version does not know."""

    code = "SCHEMA_MISMATCH"


class VaultError(GieokError):
    """A problem with keys or sealed data."""

    code = "VAULT_ERROR"


class RootKeyMissing(VaultError):
    """Sealed data exists, but its root key is missing. A new key is never created then."""

    code = "ROOT_KEY_MISSING"


class RootKeyUnsafe(VaultError):
    """The root key is malformed, or others on this machine can read it."""

    code = "ROOT_KEY_UNSAFE"


class RootKeyMismatch(VaultError):
    """The root key is not the one that wraps the keys of this data."""

    code = "ROOT_KEY_MISMATCH"


class SealBroken(VaultError):
    """Sealed data was altered, or moved from another row, column, version or owner."""

    code = "SEAL_BROKEN"


class OwnerErased(VaultError):
    """The owner was erased: the key is destroyed, so nobody can read the data."""

    code = "OWNER_ERASED"


def cause_of(error: BaseException) -> BaseException:
    """The error of a step, unwrapped from StepFailed. Any other error is returned unchanged."""
    return error.cause if isinstance(error, StepFailed) else error


def type_and_place(error: BaseException) -> str:
    """An error for a log, such as `ValueError at rules.py:7`. The message is omitted: it may have content."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + where
