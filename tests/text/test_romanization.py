"""Korean in Latin letters, and words in two scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.text import hangul_names, other_script_terms, terms
from gieok.text.korean.romanization import MAX_SPELLINGS, hangul_spellings, romanizations

SPELLED = {
    "김치": "gimchi kimchi",
    "지훈": "jihun jihoon",
    "현우": "hyeonu hyunwoo",
    "지영": "jiyeong jiyoung",
    "경희": "gyeonghui kyunghee",
    "성민": "seongmin sungmin",
    "철수": "cheolsu chulsoo",
    "서울": "seoul",
    "부산": "busan pusan",
    "대구": "daegu taegu",
    "신촌": "sinchon shinchon",
    "해운대": "haeundae",
    "김밥": "gimbap kimbap",
    "떡볶이": "tteokbokki",
    "비빔밥": "bibimbap",
    "한라산": "hallasan",  # assimilated sounds, here and below
    "설악산": "seoraksan",
    "강릉": "gangneung",
    "종로": "jongno",
    "음악": "eumak",
    "바나나": "banana",
}


@pytest.mark.parametrize(("korean", "spellings"), SPELLED.items())
def test_a_word_is_found_from_either_script(korean: str, spellings: str) -> None:
    """By the official romanization and by common spellings of names and dishes."""
    for latin in spellings.split():
        assert korean in hangul_spellings(latin)
        assert latin in romanizations(korean)


@pytest.mark.parametrize("word", ["chocolate", "fix", "xyz", "brr", "ji", "", "Seoul", "2023", "서", "ㅋㅋ"])
def test_words_without_a_korean_reading_and_single_syllables_have_no_spellings(word: str) -> None:
    assert hangul_spellings(word) == romanizations(word) == ()


def test_spellings_are_terms_of_the_index() -> None:
    """English stems; names without surname, hyphen or possessive."""
    assert terms("Haeundae")[0] in other_script_terms("해운대")
    assert {"jihoon", "kimjihun"} <= set(other_script_terms("김지훈"))
    assert "지훈" in other_script_terms("ji-hoon's")


@pytest.mark.parametrize(
    ("one", "two", "name"),
    [
        ("kim", "jihoon", "김지훈"),
        ("jihoon", "kim", "김지훈"),
        ("lee", "ji-eun", "이지은"),
        ("park", "minsu", "박민수"),
        ("ji", "hoon", "지훈"),
    ],
)
def test_two_words_may_form_a_name(one: str, two: str, name: str) -> None:
    assert name in hangul_names(one, two)


def test_two_words_that_form_no_name() -> None:
    assert hangul_names("good", "morning") == hangul_names("jihoon", "minsu") == []


@given(st.text(alphabet="abeghijklmnostuwy", max_size=20), st.text(alphabet="가힣뷁쌍읽없이훈", max_size=9))
def test_the_number_of_spellings_is_limited(latin: str, korean: str) -> None:
    assert len(hangul_spellings(latin)) <= MAX_SPELLINGS
    assert len(romanizations(korean)) <= MAX_SPELLINGS


@given(st.text(alphabet=[chr(code) for code in range(0xAC00, 0xD7A4)], min_size=2, max_size=5))
def test_every_syllable_has_a_romanization(korean: str) -> None:
    assert all(spelling.isascii() and spelling.isalpha() for spelling in romanizations(korean))
    assert romanizations(korean)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("GPT를 써봤어", {"gpt"}),
        ("ChatGPT한테 물어봤어", {"chatgpt"}),
        ("iPhone15 샀어", {"iphone15", "iphon", "15"}),
        ("아이폰15", {"아이폰15", "아이폰", "15"}),
        ("카톡으로 보냈어", {"카톡"}),
        ("LA에서 왔어", {"la"}),
        ("LA갈비", {"la갈비", "la", "갈비"}),
        ("BTS콘서트 갔어", {"bts콘서트", "bts", "콘서트"}),
    ],
)
def test_a_word_in_two_scripts_is_found_by_each_part(text: str, parts: set[str]) -> None:
    assert parts <= set(terms(text))
    assert all(set(terms(part)) & set(terms(text)) for part in parts)
