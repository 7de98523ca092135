"""Every error that Gieok raises on purpose.

    GieokError
    ├── InputRefused            VALIDATION_FAILED    what the caller gave cannot be used; nothing was changed
    │   └── PlanInvalid         PLAN_INVALID         a plan that cannot be run, with the place that is wrong
    ├── SettingsInvalid         SETTINGS_INVALID     an environment variable or gieok.toml is wrong
    ├── Unauthenticated         UNAUTHENTICATED      the token that came with a call stands for nobody
    │   └── ScopeMissing        UNAUTHENTICATED      the token stands for somebody, and not for this call
    ├── PayloadTooLarge         PAYLOAD_TOO_LARGE    more was sent at once than may be
    ├── RateLimited             RATE_LIMITED         too many calls or too much used; works later
    ├── NotFound                NOT_FOUND            no such thing for this owner
    ├── Conflict                CONFLICT             someone else changed it first
    │   ├── MemoryLimitReached  MEMORY_LIMIT_REACHED no place is left for a memory, and none may be made
    │   ├── PlanHashMismatch    PLAN_HASH_MISMATCH   a session was resumed with another plan
    │   └── SessionEnded        SESSION_ENDED        a session was used after it had ended
    ├── StepFailed              STEP_FAILED          a step of a cycle failed; nothing of the cycle was stored
    │   └── StepTimedOut        STEP_FAILED          the same, because it took too long
    ├── ModelUnavailable        MODEL_UNAVAILABLE    the language model did not answer usefully
    │   └── SummaryFailed       LLM_SUMMARY_FAILED   a conversation could not be summarised; it is kept
    ├── StoreUnavailable        STORE_UNAVAILABLE    the database cannot be reached or cannot write now
    │   └── OutcomeUnknown      OUTCOME_UNKNOWN      the connection broke during the commit
    ├── StoreDamaged            STORE_DAMAGED        a stored row is not what was written
    ├── SchemaMismatch          SCHEMA_MISMATCH      the database was made by another version of Gieok
    └── VaultError              VAULT_ERROR
        ├── RootKeyMissing      ROOT_KEY_MISSING     sealed data exists and its root key cannot be found
        ├── RootKeyUnsafe       ROOT_KEY_UNSAFE      the root key is malformed or readable by others
        ├── RootKeyMismatch     ROOT_KEY_MISMATCH    the root key given is not the one that seals this data
        ├── SealBroken          SEAL_BROKEN          not sealed, altered, or moved from another place
        └── OwnerErased         OWNER_ERASED         the owner's key was destroyed, and their data with it

A message names the thing, the place and the remedy. No message holds stored content.
"""

from __future__ import annotations

import os
import traceback
from typing import ClassVar, cast


class GieokError(Exception):
    """The root. `code` is what clients see; `str(error)` is a sentence for a person."""

    code: ClassVar[str] = "INTERNAL"


class InputRefused(GieokError):
    """What the caller gave is not acceptable. `at` is the place in it, where there is one."""

    code = "VALIDATION_FAILED"

    def __init__(self, message: str, at: str | None = None) -> None:
        super().__init__(f"{at}: {message}" if at else message)
        self.at = at


class PlanInvalid(InputRefused):
    """A plan that cannot be run; `at` is the place in the plan (`steps[2].inputs.summary`)."""

    code = "PLAN_INVALID"


class SettingsInvalid(GieokError):
    """An environment variable or gieok.toml holds something that Gieok cannot use."""

    code = "SETTINGS_INVALID"


class Unauthenticated(GieokError):
    """A token is malformed, unknown, revoked, expired or of an erased owner: one error for all of them."""

    code = "UNAUTHENTICATED"

    def __init__(self) -> None:
        super().__init__(
            "the token is missing, unknown, expired or revoked; ask whoever runs this Gieok for a new one"
        )


class ScopeMissing(Unauthenticated):
    """The token is good, and may not do this."""

    def __init__(self, scope: str) -> None:
        super().__init__()
        self.args = (
            f"this token lacks the scope '{scope}', which this call needs; make one that has it with "
            f"`gieok token create --user NAME --scope {scope}`",
        )
        self.scope = scope


class PayloadTooLarge(GieokError):
    """More was sent at once than Gieok takes. Send it in parts."""

    code = "PAYLOAD_TOO_LARGE"


class RateLimited(GieokError):
    """Too many calls at once, or a budget that is used up. The same one works after `retry_after` seconds."""

    code = "RATE_LIMITED"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotFound(GieokError):
    """No such thing for this owner. Another owner's thing answers exactly the same."""

    code = "NOT_FOUND"


class Conflict(GieokError):
    """The thing was changed by someone else; read it again and decide anew."""

    code = "CONFLICT"


class MemoryLimitReached(Conflict):
    """No place is left for this memory, and none may be made by archiving another."""

    code = "MEMORY_LIMIT_REACHED"


class PlanHashMismatch(Conflict):
    """A session was resumed with a plan other than the one it last ran."""

    code = "PLAN_HASH_MISMATCH"

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(
            f"this session last ran plan {expected}, and the plan given is {actual}; "
            "resume it with its own plan, or move the session to the new plan on purpose"
        )
        self.expected = expected
        self.actual = actual


class SessionEnded(Conflict):
    """The session has ended, so nothing can be added to it. Start a new one; its memories go on."""

    code = "SESSION_ENDED"


class StepFailed(GieokError):
    """A step failed, so its cycle failed and nothing of it was stored. `cause` is what the step raised."""

    code = "STEP_FAILED"

    def __init__(self, step: str, cause: BaseException) -> None:
        detail = str(cause) if isinstance(cause, GieokError) else type(cause).__name__
        super().__init__(f"step '{step}' failed and nothing of this cycle was stored: {detail}")
        self.step = step
        self.cause = cause


class StepTimedOut(StepFailed):
    """A step ran longer than it may."""

    def __init__(self, step: str, seconds: float) -> None:
        super().__init__(step, TimeoutError())
        self.args = (f"step '{step}' ran longer than {seconds:g} s, so nothing of this cycle was stored",)
        self.seconds = seconds


class ModelUnavailable(GieokError):
    """The language model could not be reached or did not answer usefully.

    `retry_after` is how many seconds its provider asks to be left alone, where it says.
    """

    code = "MODEL_UNAVAILABLE"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SummaryFailed(ModelUnavailable):
    """The model could not summarise a conversation. Its messages are kept; ask again later."""

    code = "LLM_SUMMARY_FAILED"


class StoreUnavailable(GieokError):
    """The database cannot be reached, is busy beyond patience, read-only, or its disk is full."""

    code = "STORE_UNAVAILABLE"


class OutcomeUnknown(StoreUnavailable):
    """The connection to the database broke during the commit: everything of the cycle was stored, or nothing.

    Look, or repeat the request with the same idempotency key.
    """

    code = "OUTCOME_UNKNOWN"


class StoreDamaged(GieokError):
    """A stored row is not what was written. Reading fails whole: no partial result."""

    code = "STORE_DAMAGED"


class SchemaMismatch(GieokError):
    """The database has a schema that this version of Gieok does not know."""

    code = "SCHEMA_MISMATCH"


class VaultError(GieokError):
    """Keys or seals are not as they must be."""

    code = "VAULT_ERROR"


class RootKeyMissing(VaultError):
    """Sealed data exists, and its root key cannot be found. A new one is never made then."""

    code = "ROOT_KEY_MISSING"


class RootKeyUnsafe(VaultError):
    """The root key is malformed, or others on this machine can read it."""

    code = "ROOT_KEY_UNSAFE"


class RootKeyMismatch(VaultError):
    """The root key given is not the one that wraps the keys of this data."""

    code = "ROOT_KEY_MISMATCH"


class SealBroken(VaultError):
    """Not sealed, altered, or moved from another row, column, version or owner: one error for all of them."""

    code = "SEAL_BROKEN"


class OwnerErased(VaultError):
    """The owner was erased: the key is destroyed and what it sealed cannot be read by anyone."""

    code = "OWNER_ERASED"


def cause_of(error: BaseException) -> BaseException:
    """What a step raised, unwrapped from its StepFailed. Any other error is returned as it is."""
    return error.cause if isinstance(error, StepFailed) else error


def type_and_place(error: BaseException) -> str:
    """An error for a log, such as `ValueError at rules.py:7`. Its message may quote stored content."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return type(error).__name__ + where
