"""Generates docs/reference/errors.md. Update it with `python -m tests.docs.error_list`."""

from __future__ import annotations

from collections.abc import Iterator

from gieok import errors
from gieok.errors import GieokError
from gieok.interfaces.rest.gateway.errors import problem_of
from tests.docs.generated import DOCS, GeneratedPage, wrapped

ARGUMENTS: dict[type[GieokError], tuple[object, ...]] = {
    errors.Unauthenticated: (),
    errors.ScopeMissing: ("write",),
    errors.RateLimited: ("too often", 1.0),
    errors.PlanHashMismatch: ("0" * 64, "1" * 64),
    errors.StepFailed: ("call", ValueError()),
    errors.StepTimedOut: ("call", 120.0),
}
"""Constructor arguments of the errors that do not take a message."""

REMEDIES: dict[type[GieokError], str] = {
    errors.GieokError: "never raised directly; catch it to catch every error of Gieok",
    errors.InputRefused: "correct the value at `at` and retry; nothing was changed",
    errors.PlanInvalid: "correct the plan at `at`; check it with `gieok plan check FILE`",
    errors.SettingsInvalid: "correct the setting in the message; see `gieok doctor`",
    errors.Unauthenticated: "send a valid token: `gieok token create --user NAME`",
    errors.Forbidden: "ask the operator for a token that permits it",
    errors.ScopeMissing: "send a token with the scope in the message",
    errors.PayloadTooLarge: "send less at once, in several requests",
    errors.HeadersTooLarge: "send a shorter URL, fewer cookies or a smaller token",
    errors.RateLimited: "wait `retry_after` seconds (`Retry-After`), then retry",
    errors.NotFound: "check the id and the user of the token",
    errors.Conflict: "read the current version, then decide whether to retry",
    errors.MemoryLimitReached: "archive or delete a memory, or turn on `autoArchive`",
    errors.PlanHashMismatch: "use the plan of the session (`expected`), or migrate the session",
    errors.SessionEnded: "start a new session; the messages of this one are kept",
    errors.StepFailed: "see `step` and `cause`; nothing was stored, so a retry is safe",
    errors.StepTimedOut: "retry, or give the model fewer attempts or less time in the plan",
    errors.ModelUnavailable: "retry when the model is available again, after `retry_after` seconds if set",
    errors.SummaryFailed: "close the session again, or request its summary; its messages are kept",
    errors.OutcomeUnknown: "check whether it was stored, or repeat the request with the same idempotency key",
    errors.StoreUnavailable: "check that the database is reachable, writable and not full; then retry",
    errors.DeliveryFailed: "never returned to a caller; a worker retries, or the event becomes a dead letter",
    errors.StoreDamaged: "restore the missing file or a backup; stop writing until then",
    errors.SchemaMismatch: "run `gieok db upgrade`, or install the newer version that created the database",
    errors.VaultError: "never raised directly; see the errors below",
    errors.RootKeyMissing: "restore the root key named in the message; a new key cannot decrypt the data",
    errors.RootKeyUnsafe: "restrict the permissions of the file, or use a key of 32 bytes in base64",
    errors.RootKeyMismatch: "use the root key that this keystore was created with",
    errors.SealBroken: "restore a backup; the row was altered or damaged",
    errors.OwnerErased: "use another name; `gieok token create` lets a new owner use this one",
}


def tree(error: type[GieokError] = GieokError, depth: int = 0) -> Iterator[tuple[type[GieokError], int]]:
    """Every error of the package and its depth in the class tree, in the order of errors.py."""
    yield error, depth
    for kind in error.__subclasses__():
        if kind.__module__ == errors.__name__:
            yield from tree(kind, depth + 1)


def lines() -> Iterator[str]:
    """A nested list with one item per error."""
    for error, depth in tree():
        indent = "    " * depth
        meaning = " ".join((error.__doc__ or "").partition("\n\n")[0].split())
        item = f"**`{error.__name__}`** · `{error.code}` · HTTP {_http_status(error)}: {meaning}"
        yield from wrapped(f"{item} **Remedy**: {REMEDIES[error]}.", f"{indent}*   ", f"{indent}    ")


def _http_status(error: type[GieokError]) -> str:
    problem = problem_of(error(*ARGUMENTS.get(error, ("what happened",))))
    return str(problem.status) if problem.code == error.code else f"{problem.status} `{problem.code}`"


PAGE = GeneratedPage(DOCS / "reference" / "errors.md", "tests.docs.error_list", lines)

if __name__ == "__main__":
    PAGE.write()
