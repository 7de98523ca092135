"""The terms of a plan as pydantic-ai takes them."""

from __future__ import annotations

from pydantic_ai.settings import ModelSettings

from gieok.memory.asking import ModelTerms


def settings_for(terms: ModelTerms) -> ModelSettings:
    """The limit of an answer. The provider's own library must not try again: the plan counts the attempts."""
    return ModelSettings(max_tokens=terms.max_output_tokens, max_retries=0)
