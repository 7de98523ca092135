"""The language model that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gieok.errors import SettingsInvalid
from gieok.settings import Settings
from gieok.settings.model import MODEL_KEYS, OFFLINE, model_provider

if TYPE_CHECKING:
    from gieok.adapters.models.offline import OfflineModel
    from gieok.adapters.models.remote.model import RemoteModel


def choose_model(settings: Settings) -> OfflineModel | RemoteModel:
    """The model, ready to be asked; nothing is sent. It loads a provider's library, which takes seconds.

    SettingsInvalid where the library or the key is missing, with what to install or set.
    """
    if settings.model == OFFLINE:
        from gieok.adapters.models.offline import OfflineModel  # noqa: PLC0415  its rules load when first used

        return OfflineModel()
    provider, name = model_provider(settings.model, settings.model_base_url)
    key = _key(settings, provider)
    try:
        from gieok.adapters.models.remote.providers import Address, open_remote  # noqa: PLC0415

        return open_remote(provider, Address(name, settings.model_base_url, key))
    except ImportError as error:
        raise SettingsInvalid(
            f"model '{settings.model}' needs a library that is not installed: pip install 'gieok[{provider}]'"
        ) from error


def _key(settings: Settings, provider: str) -> str | None:
    """A server of one's own gets no key that was meant for the provider, and may need none."""
    key = settings.secrets.get("GIEOK_MODEL_API_KEY")
    if key is None and not (provider == "openai" and settings.model_base_url):
        given = (settings.secrets.get(name) for name in MODEL_KEYS[provider])
        key = next((each for each in given if each), None)
        if key is None:
            names = " or ".join((*MODEL_KEYS[provider], "GIEOK_MODEL_API_KEY"))
            raise SettingsInvalid(f"model '{settings.model}' needs a key: set {names} in the environment")
    return key
