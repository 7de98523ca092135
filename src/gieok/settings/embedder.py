"""The settings of embedding: which model makes vectors of memories, and how many are held in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from gieok.errors import SettingsInvalid

FORMS = (
    "none",
    "wordllama",
    "minilm",
    "onnx:FOLDER",
    "sentence-transformers:NAME",
    "openai:MODEL",
    "google:MODEL",
)
"""What `embedder` may be. A served model may say its dimension: `openai:MODEL@DIMENSION`."""

_PLAIN = frozenset(form for form in FORMS if ":" not in form)
_WITH_MODEL = frozenset(form.partition(":")[0] for form in FORMS if ":" in form)
_SERVED = frozenset({"openai", "google"})
_DIMENSION = re.compile(r"(.+)@([1-9][0-9]{0,4})")


@dataclass(frozen=True)
class EmbedderSettings:
    """What GIEOK_EMBEDDER, GIEOK_EMBEDDER_BASE_URL and GIEOK_VECTOR_CACHE_MB say."""

    embedder: str = "none"
    embedder_base_url: str | None = None
    """Of a server that speaks OpenAI's embeddings, or of Gemini's."""
    embedder_languages: str = ""
    """The languages that it knows (`en`, or `ko,en`), where it does not say so itself."""
    vector_cache_mb: int = 256
    """How much the vectors that a process holds in memory may take."""

    @property
    def kind(self) -> str:
        """What comes before the colon."""
        return self.embedder.partition(":")[0]

    @property
    def model(self) -> str:
        """The model, or the folder, that the kind is followed by."""
        name = self.embedder.partition(":")[2]
        sized = _DIMENSION.fullmatch(name) if self.kind in _SERVED else None
        return sized[1] if sized else name

    @property
    def dimension(self) -> int | None:
        """How many numbers a vector of a served model has, where that is said."""
        sized = _DIMENSION.fullmatch(self.embedder) if self.kind in _SERVED else None
        return int(sized[2]) if sized else None

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that were given; None: none were."""
        return frozenset(self.embedder_languages.replace(",", " ").split()) or None


NO_EMBEDDER = EmbedderSettings()
EMBEDDER_NAMES = tuple(each.name for each in fields(EmbedderSettings))


def embedder_settings(given: Mapping[str, str]) -> EmbedderSettings:
    """The settings that were given as text; SettingsInvalid names the one that is wrong."""
    embedder = given.get("embedder", "none").strip()
    kind, colon, model = embedder.partition(":")
    if embedder not in _PLAIN and not (kind in _WITH_MODEL and colon and model):
        raise SettingsInvalid(f"embedder '{embedder}' is not known; it is one of {', '.join(FORMS)}")
    base_url = given.get("embedder_base_url")
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise SettingsInvalid("embedder_base_url must begin with http:// or https://")
    settings = EmbedderSettings(
        embedder,
        base_url,
        given.get("embedder_languages", ""),
        _megabytes(given.get("vector_cache_mb", "256")),
    )
    if not (settings.languages or frozenset()) <= {"ko", "en"}:
        raise SettingsInvalid("embedder_languages must be ko, en, or both with a comma between")
    return settings


def _megabytes(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,6}", text.strip()):
        raise SettingsInvalid("vector_cache_mb must be a whole number from 1")
    return int(text)
