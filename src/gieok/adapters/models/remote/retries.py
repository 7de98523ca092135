"""Timeouts and retries of a provider's calls, and its errors as `ModelUnavailable`.

A provider's own error text never reaches the caller: it may contain what the user said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

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
from gieok.memory.model_calls import ModelLimits

T = TypeVar("T")

# What the client libraries raise for a response that is not text or not a JSON document.
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_PERMANENT = (ModelRequestRejectedError, ModelQuotaExceededError)
_REASONS: tuple[tuple[type[AgentRunError], str], ...] = (
    (ModelAuthenticationError, "refused the API key: check the key of this provider, or GIEOK_MODEL_API_KEY"),
    (ModelNotFoundError, "does not have this model: check GIEOK_MODEL and GIEOK_MODEL_BASE_URL"),
    (
        ModelContextWindowExceededError,
        "has a smaller context window than the prompt: lower tokenBudget in the plan",
    ),
    (ModelRequestRejectedError, "rejected the request"),
    (ModelQuotaExceededError, "has no quota left for this key"),
    (ModelRateLimitError, "is rate limited: try again later"),
    (
        ModelConnectionError,
        "could not be reached, or closed the connection early: check GIEOK_MODEL_BASE_URL",
    ),
    (ModelAPIError, "failed: try again later"),
    (ContentFilterError, "stopped its answer with a content filter"),
    (AgentRunError, "did not answer in the requested format, even after a repair request"),
)


async def call_with_retries(
    name: str,
    limits: ModelLimits,
    call: Callable[[], Awaitable[T]],
    is_repeatable: Callable[[], bool] = lambda: True,
) -> T:
    """Run the call, and repeat it after a transient failure as often as the limits allow.

    `is_repeatable` is checked after a failure: a reply that was already partly streamed is not repeated.
    ModelUnavailable when the attempts are used up or another one would not help.
    """
    attempt = 1
    while True:
        try:
            async with asyncio.timeout(limits.attempt_seconds):
                return await call()
        except TimeoutError:
            failure = ModelUnavailable(
                f"the model '{name}' did not finish its answer within {limits.attempt_seconds:g} s"
            )
            is_transient = True
        except AgentRunError as error:
            failure = _unavailable(name, error)
            is_transient = (
                isinstance(error, ModelAPIError)
                and not isinstance(error, _PERMANENT)
                and limits.can_wait(failure.retry_after)
            )
        except _UNREADABLE as error:
            failure = ModelUnavailable(
                f"the model '{name}' gave an answer that cannot be read ({type(error).__name__})"
            )
            is_transient = False
        if not is_transient or attempt >= limits.attempts or not is_repeatable():
            raise failure
        await asyncio.sleep(limits.backoff(attempt, failure.retry_after))
        attempt += 1


def _unavailable(name: str, error: AgentRunError) -> ModelUnavailable:
    """Say which model failed, why, and what to do."""
    reason = next(text for kind, text in _REASONS if isinstance(error, kind))
    status = f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""
    retry_after = error.retry_after if isinstance(error, ModelAPIError) else None
    return ModelUnavailable(f"the model '{name}' {reason}{status}", retry_after=retry_after)
