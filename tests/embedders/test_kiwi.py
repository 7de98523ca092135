"""Korean words of similar meaning: with the real package, and the errors where it is missing or damaged."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from gieok import Gieok, Hit, PersonaDraft, Settings
from gieok.adapters.embedders import open_near_words
from gieok.adapters.embedders.kiwi import KiwiWords
from gieok.errors import SettingsInvalid
from gieok.memory.sessions.records import ChatMessage
from gieok.settings import EmbedderSettings
from gieok.settings.sections import parse_embedder

KIWI = EmbedderSettings(near_words="kiwi")
NEAR = [("생일", "생신"), ("강아지", "반려견"), ("합격", "낙방"), ("먹", "드시")]
needs_package = pytest.mark.skipif(
    find_spec("kiwipiepy_model") is None,
    reason="needs kiwipiepy_model: pip install 'gieok[korean]'",
)


@needs_package
@pytest.mark.parametrize(("word", "near"), NEAR)
def test_words_that_are_used_alike_are_near(word: str, near: str) -> None:
    words = open_near_words(KIWI)
    assert words is not None
    found = words.near([word])[word]
    assert found[near] > 0.6
    assert word not in found
    assert len(found) <= 50


@needs_package
def test_unknown_and_english_words_have_no_near_ones() -> None:
    words = open_near_words(KIWI)
    assert words is not None
    assert words.near(["쁅쁅쁅", "birthday", "2026"]) == {}


async def search(settings: Settings, question: str) -> list[Hit]:
    """Ask after two messages, of which none contains a word of the question."""
    async with await Gieok.open(settings, background=False) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        await user.sessions.start("hana", plan="chat_turn", session_ref="s1")
        said = ["요즘 회사에서 너무 바빠", "다음 주가 우리 엄마 생신이야"]
        messages = [
            ChatMessage(id=str(number), role="user", content=text, timestamp=datetime(2026, 3, 2, tzinfo=UTC))
            for number, text in enumerate(said)
        ]
        await user.sessions.save_messages("s1", messages, remember=False)
        return list(await user.companion.search("hana", question, kinds="all"))


@needs_package
async def test_a_search_finds_a_message_by_a_near_word_and_says_so(settings: Settings) -> None:
    (hit, *_) = await search(replace(settings, embedding=KIWI), "누구 생일이라고 했지?")
    assert hit.text == "다음 주가 우리 엄마 생신이야"
    assert "생일 ~ 생신" in hit.why.matched_words
    assert "생일" not in hit.why.matched_words
    assert 0 < hit.confidence < 0.5, "a near word is weaker evidence than the word itself"


async def test_near_words_are_not_searched_by_default(settings: Settings) -> None:
    assert await search(settings, "누구 생일이라고 했지?") == []


def test_an_unknown_value_is_refused() -> None:
    with pytest.raises(SettingsInvalid, match="near_words 'kiwy'"):
        parse_embedder({"near_words": "kiwy"})


def test_a_missing_package_is_named_at_start_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kiwipiepy_model", None)
    with pytest.raises(SettingsInvalid, match=r"gieok\[korean\]"):
        open_near_words(KIWI)


@pytest.mark.parametrize("model", [b"", b"\0" * 64, b"x" * 4096])
def test_files_of_another_format_are_refused(tmp_path: Path, model: bytes) -> None:
    (tmp_path / "cong.mdl").write_bytes(model)
    (tmp_path / "sj.morph").write_bytes(b"KIWI")
    with pytest.raises(SettingsInvalid, match="kiwipiepy_model are not as expected"):
        KiwiWords(tmp_path).near(["생일"])
