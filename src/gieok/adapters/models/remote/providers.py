"""The providers that Gieok speaks to, each by its own library, which an extra of Gieok installs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic_ai.models import Model

from gieok.adapters.models.remote.model import RemoteModel


@dataclass(frozen=True)
class Address:
    """Which model is asked, where, and with which key."""

    model: str
    base_url: str | None
    api_key: str | None


def open_remote(provider: str, address: Address) -> RemoteModel:
    """A model of this provider. ImportError where its library is not installed; no request is made."""
    # A server of one's own runs models of any kind: a schema holds even those that know no tools.
    by_schema = provider == "openai" and address.base_url is not None
    return RemoteModel(_MAKERS[provider](address), f"{provider}:{address.model}", by_schema=by_schema)


def _google(address: Address) -> Model:
    from pydantic_ai.models.google import GoogleModel  # noqa: PLC0415  only what is used is loaded
    from pydantic_ai.providers.google import GoogleProvider  # noqa: PLC0415

    provider = GoogleProvider(api_key=address.api_key, base_url=address.base_url)
    return GoogleModel(address.model, provider=provider)


def _anthropic(address: Address) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415
    from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415

    provider = AnthropicProvider(api_key=address.api_key, base_url=address.base_url)
    return AnthropicModel(address.model, provider=provider)


def _openai(address: Address) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider  # noqa: PLC0415

    # Otherwise a stream that was closed in the middle would pass for a whole reply.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    if address.base_url is None:
        openai = OpenAIProvider(api_key=address.api_key)
        return OpenAIChatModel(address.model, provider=openai, profile=profile)
    server = OpenAICompatibleProvider("server", base_url=address.base_url, api_key=address.api_key)
    return OpenAIChatModel(address.model, provider=server, profile=profile)


_MAKERS: Mapping[str, Callable[[Address], Model]] = {
    "google": _google,
    "openai": _openai,
    "anthropic": _anthropic,
}
