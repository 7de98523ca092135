"""What is said when a model does not answer usefully. Never a provider's own words: they may hold content."""

from __future__ import annotations

from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
)

from gieok.errors import ModelUnavailable

_FINAL = (ModelRequestRejectedError, ModelQuotaExceededError)
_REASONS: tuple[tuple[type[AgentRunError], str], ...] = (
    (ModelAuthenticationError, "refused the API key: check the key of this provider, or GIEOK_MODEL_API_KEY"),
    (ModelNotFoundError, "does not have this model: check GIEOK_MODEL and GIEOK_MODEL_BASE_URL"),
    (ModelContextWindowExceededError, "cannot read so much at once: lower tokenBudget in the plan"),
    (ModelRequestRejectedError, "refused the request as it is"),
    (ModelQuotaExceededError, "has no quota left for this key"),
    (ModelRateLimitError, "asks for fewer requests: try again later"),
    (ModelConnectionError, "could not be reached, or broke off its answer: check GIEOK_MODEL_BASE_URL"),
    (ModelAPIError, "failed: try again later"),
    (ContentFilterError, "stopped its own answer by a content filter"),
    (AgentRunError, "did not answer in the form that was asked for, also when told what was wrong"),
)


def may_pass(error: AgentRunError) -> bool:
    """Whether the same request may work a little later."""
    return isinstance(error, ModelAPIError) and not isinstance(error, _FINAL)


def unavailable(name: str, error: AgentRunError) -> ModelUnavailable:
    """The error that a caller gets: which model, why, and what to do."""
    reason = next(text for kind, text in _REASONS if isinstance(error, kind))
    status = f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""
    return ModelUnavailable(f"the model '{name}' {reason}{status}", retry_after=retry_after(error))


def retry_after(error: AgentRunError) -> float | None:
    """How many seconds the provider asks to be left alone."""
    return error.retry_after if isinstance(error, ModelAPIError) else None
