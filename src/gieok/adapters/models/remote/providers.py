"""The providers, each with its own client library, which an extra of Gieok installs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic_ai.models import Model

from gieok.adapters.models.remote.model import RemoteModel


@dataclass(frozen=True)
class Endpoint:
    """A model's name, its server and the API key."""

    model: str
    base_url: str | None
    api_key: str | None


def open_remote_model(provider: str, endpoint: Endpoint) -> RemoteModel:
    """A model of this provider. Sends no request. ImportError where the client library is not installed."""
    # Self-hosted servers also run models without tool calls; a JSON schema works for all of them.
    native_output = provider == "openai" and endpoint.base_url is not None
    return RemoteModel(
        _PROVIDERS[provider](endpoint), f"{provider}:{endpoint.model}", native_output=native_output
    )


def _google(endpoint: Endpoint) -> Model:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415  load only the chosen library
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    provider = GoogleProvider(api_key=endpoint.api_key, base_url=endpoint.base_url)
    return GoogleModel(endpoint.model, provider=provider)


def _anthropic(endpoint: Endpoint) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    provider = AnthropicProvider(api_key=endpoint.api_key, base_url=endpoint.base_url)
    return AnthropicModel(endpoint.model, provider=provider)


def _openai(endpoint: Endpoint) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415

    # Otherwise a stream that ends early would pass for a complete reply.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    if endpoint.base_url is None:
        openai = OpenAIProvider(api_key=endpoint.api_key)
        return OpenAIChatModel(endpoint.model, provider=openai, profile=profile)
    server = OpenAICompatibleProvider("server", base_url=endpoint.base_url, api_key=endpoint.api_key)
    return OpenAIChatModel(endpoint.model, provider=server, profile=profile)


_PROVIDERS: Mapping[str, Callable[[Endpoint], Model]] = {
    "google": _google,
    "openai": _openai,
    "anthropic": _anthropic,
}
