"""The terms of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.text import normalize, terms
from tests.text.particles import ALL_NOUNS, with_particles

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)
CHAT = st.text(alphabet="면접회사에서가는을 떨렸어카카오뱅크민지ㅋㅠ aAbITi.'-3%👍東", max_size=40)
INVISIBLE = st.sampled_from(["\u200b", "\u200d", "\u2060", "\ufeff", "\u202e", "\u00ad", "\ufe0f", "\x00"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("떨렸어", ["떨리"]),
        ("영화관에서", ["영화관", "영화", "관"]),
        ("도와줬어", ["돕"]),
        ("행복했던", ["행복"]),
        ("깨끗한 방", ["깨끗", "방"]),
        ("그래서 우리는 그것을 했고 있었다", []),
        ("IT 스타트업", ["it", "스타트업", "스타트", "업"]),
        ("IT회사", ["it회사", "it", "회사"]),
        ("학생들이", ["학생"]),
        ("좋아ㅠㅠ ㅋㅋㅋㅋ", ["좋"]),
    ],
)
def test_korean(text: str, expected: list[str]) -> None:
    """Nouns, stems and roots are terms; particles, endings, auxiliaries, pronouns and laughter are not."""
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I was running to the stations", ["run", "station"]),
        ("don't we'll it's John's", ["john"]),
        ("IT is what it was", ["it", "it"]),
        ("I want it", ["want"]),
        ("WHAT IS IT", []),
        ("IT", ["it"]),
        ("U.S. e.g.", ["us"]),
        ("Привет МИР", ["привет", "мир"]),
        ("हिन्दी", ["हिन्दी"]),
    ],
)
def test_english_and_other_alphabets(text: str, expected: list[str]) -> None:
    """English gives stems without stop words, and acronyms; other alphabets give words."""
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.5%", ["3.5"]),
        ("1,000원", ["1000원", "1000"]),
        ("2025년", ["2025년", "2025"]),
        ("아이폰15를", ["아이폰15", "아이폰", "15"]),
        ("iPhone15", ["iphone15", "iphon", "15"]),
        ("GPT-4", ["gpt4", "gpt", "4"]),
        ("GPT4는", ["gpt4", "gpt", "4"]),
        ("C++ C#을", ["c++", "c#"]),
        ("kim@gieok.dev", ["kim@gieok.dev", "kim", "gieok", "dev"]),
        ("https://gieok.dev/recall,", ["gieok.dev", "gieok", "dev", "recal"]),
        ("👍🏽 ❤️ 🇰🇷🇺🇸 👩‍🚀", ["👍", "❤", "🇰🇷", "🇺🇸", "👩", "🚀"]),
        ("東京都 大", ["東京", "京都", "大"]),
    ],
)
def test_mixed_tokens(text: str, expected: list[str]) -> None:
    """Numbers, product names, addresses, emoji and Han give the same terms in each spelling."""
    assert terms(text) == expected


@pytest.mark.parametrize("name", ["카카오뱅크", "뉴진스", "당근마켓", "챗지피티"])
def test_a_name_that_the_dictionary_splits(name: str) -> None:
    """A new name is a term as a whole, alone and inside a sentence."""
    assert name in terms(name)
    assert name in terms(f"어제 {name}에서 봤는데 좋았어")


def test_a_new_noun_before_hada() -> None:
    """An unknown noun before 하다 is a term."""
    assert "알바" in terms("카페에서 알바했어")


@pytest.mark.req("TURN-6")
@pytest.mark.parametrize(
    "form", ["면접이", "면접을", "면접에서", "면접에서는", "면접이랑", "면접까지도", "면접"]
)
def test_particles_do_not_hide_a_keyword(form: str) -> None:
    """The keyword 면접 is the term, whatever particle follows it."""
    assert terms(form) == ["면접"]


@pytest.mark.req("TURN-6")
def test_names_under_particles() -> None:
    """At least 98 of 100 pairs of noun and particle give the term that the bare noun gives."""
    found = pairs = 0
    for noun in ALL_NOUNS:
        bare = terms(noun)
        term = noun if noun in bare else next(iter(bare), None)
        for form in with_particles(noun):
            pairs += 1
            found += term in terms(form)
    assert pairs > 7_000
    assert found / pairs >= 0.98


@pytest.mark.req("TURN-6")
def test_case_is_ignored_and_words_are_whole() -> None:
    """`CATS` is `cat`; `category` is not."""
    assert terms("My CATS") == terms("my cat") == ["cat"]
    assert "cat" not in terms("category")


@given(ANY_TEXT)
def test_terms_are_not_empty(text: str) -> None:
    """No term is empty or has surrounding space."""
    assert all(term and term == term.strip() for term in terms(text))


@given(CHAT)
def test_terms_of_the_normalised_text(text: str) -> None:
    """Normalising first changes only acronyms, which need capitals."""
    calm = text.lower()
    assert terms(normalize(calm)) == terms(calm)
    assert set(terms(normalize(text))) <= set(terms(text))


@given(CHAT)
def test_width_makes_no_difference(text: str) -> None:
    """Full-width letters, digits and marks give the terms of their ASCII forms."""
    wide = "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)
    assert terms(wide) == terms(text)


@given(CHAT, st.data())
def test_invisible_characters_make_no_difference(text: str, data: st.DataObject) -> None:
    """A zero-width, bidirectional or control character does not change the terms."""
    at = data.draw(st.integers(0, len(text)))
    assert terms(text[:at] + data.draw(INVISIBLE) + text[at:]) == terms(text)


def test_the_result_is_a_copy() -> None:
    """Changing the returned list does not change the next result."""
    terms("면접").append("회사")
    assert terms("면접") == ["면접"]
