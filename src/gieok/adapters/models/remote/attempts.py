"""Asking again when a provider cannot be reached or is overloaded: as often as the plan says, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic_ai.exceptions import AgentRunError

from gieok.adapters.models.remote.failures import may_pass, retry_after, unavailable
from gieok.errors import ModelUnavailable
from gieok.memory.asking import ModelTerms

T = TypeVar("T")

# What the libraries raise, far down, over an answer that is no text or no document at all.
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


def always() -> bool:
    """For a call that can be repeated whenever it failed."""
    return True


async def attempted(
    name: str,
    terms: ModelTerms,
    call: Callable[[], Awaitable[T]],
    repeatable: Callable[[], bool] = always,
) -> T:
    """What the call returns. ModelUnavailable when its attempts are used up or another would not help.

    `repeatable` is asked after a failure: a reply of which somebody heard the beginning is not begun anew.
    """
    attempt = 1
    while True:
        try:
            async with asyncio.timeout(terms.attempt_seconds):
                return await call()
        except TimeoutError:
            failure = ModelUnavailable(
                f"the model '{name}' gave no whole answer within {terms.attempt_seconds:g} s"
            )
            again = True
        except AgentRunError as error:
            failure = unavailable(name, error)
            again = may_pass(error) and terms.can_wait(retry_after(error))
        except _UNREADABLE as error:
            failure = ModelUnavailable(
                f"the model '{name}' gave an answer that cannot be read ({type(error).__name__})"
            )
            again = False
        if not again or attempt >= terms.attempts or not repeatable():
            raise failure
        await asyncio.sleep(terms.wait(attempt, failure.retry_after))
        attempt += 1
