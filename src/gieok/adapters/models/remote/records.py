"""Asking a model for a record: an answer in a given form, with one repair, counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from pydantic_ai import Agent, ModelRetry, NativeOutput, RunContext
from pydantic_ai.models import Model
from pydantic_ai.usage import RunUsage, UsageLimits

from gieok.adapters.models.prompts import prompt
from gieok.adapters.models.remote.answers import Answer
from gieok.adapters.models.remote.attempts import attempted
from gieok.adapters.models.remote.settings import settings_for
from gieok.memory.asking import Meter
from gieok.memory.fields import Language

A = TypeVar("A", bound=Answer)
Check = Callable[[A], str | None]
"""What is wrong with an answer that has the right form; None where it will do."""

_REPAIRS = 1


class Asked(Generic[A]):
    """One form of answer, asked of one model. An answer that does not fit goes back once with the reason."""

    def __init__(self, model: Model, name: str, form: type[A], *, by_schema: bool) -> None:
        """`by_schema`: the server holds the model to a JSON schema; otherwise it calls a tool to answer."""
        self._name = name
        self._agent = _agent(model, NativeOutput(form) if by_schema else form)

    async def ask(self, task: str, language: Language, check: Check[A], meter: Meter) -> A:
        """The answer to a task; ModelUnavailable where there is none of use."""

        async def call() -> A:
            usage = RunUsage()
            try:
                ran = await self._agent.run(
                    task,
                    deps=check,
                    instructions=prompt("data", language),
                    model_settings=settings_for(meter.terms),
                    usage=usage,
                    usage_limits=UsageLimits(request_limit=1 + _REPAIRS),
                )
            finally:
                meter.count(max(usage.requests, 1), usage.input_tokens, usage.output_tokens)
            return ran.output

        return await attempted(self._name, meter.terms, call)


def _agent(model: Model, form: type[A] | NativeOutput[A]) -> Agent[Check[A], A]:
    def check(context: RunContext[Check[A]], answer: A) -> A:
        problem = context.deps(answer)
        if problem is not None:
            raise ModelRetry(problem)
        return answer

    agent = cast(
        "Agent[Check[A], A]", Agent(model, output_type=form, retries={"output": _REPAIRS, "tools": 0})
    )
    agent.output_validator(check)
    return agent
