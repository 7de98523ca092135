"""Open the language model that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gieok.errors import SettingsInvalid
from gieok.settings import Settings
from gieok.settings.sections import API_KEY_VARIABLES, OFFLINE, parse_model

if TYPE_CHECKING:
    from gieok.adapters.models.offline import OfflineModel
    from gieok.adapters.models.remote.model import RemoteModel


def choose_model(settings: Settings, model: str | None = None) -> OfflineModel | RemoteModel:
    """The model with this name, by default that of the settings. Loads the provider's library (seconds).

    SettingsInvalid where the library or the API key is missing; the message says what to install or set.
    """
    model = model or settings.model
    if model == OFFLINE:
        from gieok.adapters.models.offline import OfflineModel  # noqa: PLC0415  its rules load when first used

        return OfflineModel()
    provider, name = parse_model(model, settings.model_base_url)
    api_key = _api_key(settings, model, provider)
    try:
        from gieok.adapters.models.remote.providers import Endpoint, open_remote_model  # noqa: PLC0415

        return open_remote_model(provider, Endpoint(name, settings.model_base_url, api_key))
    except ImportError as error:
        raise SettingsInvalid(
            f"model '{model}' needs a library that is not installed: pip install 'gieok[{provider}]'"
        ) from error


def _api_key(settings: Settings, model: str, provider: str) -> str | None:
    """GIEOK_MODEL_API_KEY, or the provider's usual variable.

    A self-hosted server may need no key, and never gets the key that was meant for the provider.
    """
    key = settings.secrets.get("GIEOK_MODEL_API_KEY")
    if key is None and not (provider == "openai" and settings.model_base_url):
        variables = API_KEY_VARIABLES[provider]
        key = next((settings.secrets[name] for name in variables if settings.secrets.get(name)), None)
        if key is None:
            names = " or ".join((*variables, "GIEOK_MODEL_API_KEY"))
            raise SettingsInvalid(f"model '{model}' needs an API key: set {names} in the environment")
    return key
