"""docs/reference/errors.md from gieok.errors: `python -m tests.docs.error_list` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator

from gieok import errors
from gieok.errors import GieokError
from gieok.interfaces.rest.gateway.errors import problem_of
from tests.docs.generated import DOCS, GeneratedPage

OWN_WORDS: dict[type[GieokError], tuple[object, ...]] = {
    errors.Unauthenticated: (),
    errors.ScopeMissing: ("write",),
    errors.RateLimited: ("too often", 1.0),
    errors.PlanHashMismatch: ("0" * 64, "1" * 64),
    errors.StepFailed: ("call", ValueError()),
    errors.StepTimedOut: ("call", 120.0),
}
"""What an error is made of, where that is not a message."""

REMEDIES: dict[type[GieokError], str] = {
    errors.GieokError: "never raised as itself; catch it to catch all of these",
    errors.InputRefused: "mend what stands at `at`, and ask again; nothing was changed",
    errors.PlanInvalid: "mend the place `at` in the plan; `gieok plan check FILE` says whether it can run",
    errors.SettingsInvalid: "mend the variable or the line of `gieok.toml` that it names; see `gieok doctor`",
    errors.Unauthenticated: "bring a token that is in force: `gieok token create --user NAME`",
    errors.ScopeMissing: "bring a token with the scope that the message names",
    errors.PayloadTooLarge: "send it in parts",
    errors.RateLimited: "wait for `retry_after` seconds (`Retry-After`), then ask again",
    errors.NotFound: "look whether the id is right, and whose token it is",
    errors.Conflict: "read the thing again, and decide anew",
    errors.MemoryLimitReached: "archive or delete a memory first, or let Gieok archive one (`autoArchive`)",
    errors.PlanHashMismatch: "give the session's own plan (`expected`), or move the session on purpose",
    errors.SessionEnded: "begin a new session; what was said is remembered",
    errors.StepFailed: "look at `step` and `cause`; nothing was stored, so it may be tried again",
    errors.StepTimedOut: "the same; give the model fewer attempts or less time in the plan",
    errors.ModelUnavailable: "try again when the model is back, after `retry_after` seconds where it says so",
    errors.SummaryFailed: "close the session again, or ask for its summary; its messages are kept",
    errors.OutcomeUnknown: "look whether it was stored, or repeat the request with the same idempotency key",
    errors.StoreUnavailable: "look whether the database is there, writable and not full; then try again",
    errors.StoreDamaged: "put back what is missing, or restore a backup; do not write on",
    errors.SchemaMismatch: "run `gieok db upgrade`, or use the newer Gieok that made the database",
    errors.VaultError: "never raised as itself; one of those below",
    errors.RootKeyMissing: "put the root key back where the message says; no new one would help",
    errors.RootKeyUnsafe: "close the file to others, or give a key of 32 bytes in base64",
    errors.RootKeyMismatch: "give the root key that this keystore was made with",
    errors.SealBroken: "restore a backup; somebody or something changed the row",
    errors.OwnerErased: "nothing: an erased name is not used again",
}


def tree(error: type[GieokError] = GieokError, depth: int = 0) -> Iterator[tuple[type[GieokError], int]]:
    """Every error of the package with how deep it stands, in the order of errors.py."""
    yield error, depth
    for kind in error.__subclasses__():
        if kind.__module__ == errors.__name__:
            yield from tree(kind, depth + 1)


def lines() -> Iterator[str]:
    """One row an error."""
    yield "| error | code | HTTP | what happened | what to do |"
    yield "|---|---|---|---|---|"
    for error, depth in tree():
        name = "&nbsp;&nbsp;" * depth + f"`{error.__name__}`"
        happened = " ".join((error.__doc__ or "").partition("\n\n")[0].split())
        yield f"| {name} | `{error.code}` | {_on_the_wire(error)} | {happened} | {REMEDIES[error]} |"


def _on_the_wire(error: type[GieokError]) -> str:
    problem = problem_of(error(*OWN_WORDS.get(error, ("what happened",))))
    return str(problem.status) if problem.code == error.code else f"{problem.status} `{problem.code}`"


PAGE = GeneratedPage(DOCS / "reference" / "errors.md", "tests.docs.error_list", lines)

if __name__ == "__main__":
    PAGE.write()
