"""The settings of the language model: what it may be called, and whose key it takes."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.errors import SettingsInvalid

OFFLINE = "offline"
MODEL_KEYS: Mapping[str, tuple[str, ...]] = {
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
}
"""The providers, and the variables in which each is usually given its key."""

_FORMS = ", ".join((f"'{OFFLINE}'", *(f"'{provider}:MODEL'" for provider in MODEL_KEYS)))


def known_model(model: str, base_url: str | None) -> str:
    """The name of a model as it was given; SettingsInvalid where nobody could be asked."""
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise SettingsInvalid("model_base_url must begin with http:// or https://")
    if model == OFFLINE:
        if base_url is not None:
            raise SettingsInvalid("model_base_url is set and model is not: set GIEOK_MODEL to openai:MODEL")
        return model
    model_provider(model, base_url)
    return model


def model_provider(model: str, base_url: str | None) -> tuple[str, str]:
    """Who is asked, and for which model. A server of one's own takes any name as it is: `llama3.2:3b`."""
    provider, _, name = model.partition(":")
    if provider in MODEL_KEYS and name:
        return provider, name
    if base_url is not None and provider not in MODEL_KEYS:
        return "openai", model
    raise SettingsInvalid(f"model '{model}' is not known; it may be {_FORMS}")


def model_key_names(model: str) -> tuple[str, ...]:
    """The variables in which this model's provider is usually given its key."""
    return MODEL_KEYS.get(model.partition(":")[0], ())
