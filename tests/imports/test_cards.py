"""Character cards become personas, and personas become cards again."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from typing import Any

import pytest

from gieok import PersonaDraft
from gieok.adapters.imports.cards import ReadBook, ReadCard, card_bytes, read_file
from gieok.adapters.imports.files import write_png
from gieok.errors import InputRefused
from gieok.memory.canon.rules import persona_prompt
from tests.imports.files import CARD, ENTRY, charx, json_file, png_chunk, png_with, text_chunk, world_info

pytestmark = pytest.mark.req("INT-4")


def read_card(content: bytes) -> ReadCard:
    read = read_file(content)
    assert isinstance(read, ReadCard)
    return read


V2: dict[str, Any] = {**CARD, "spec": "chara_card_v2", "spec_version": "2.0"}
OTHER = {**CARD, "data": {**CARD["data"], "name": "Other"}}
ITXT = png_chunk(b"iTXt", b"chara\0\1\0\0\0" + zlib.compress(b64encode(json_file(V2))))
ZTXT = png_chunk(b"zTXt", b"ccv3\0\0" + zlib.compress(b64encode(json_file(CARD))))


@pytest.mark.parametrize(
    "content",
    [
        json_file(CARD),
        b"\xef\xbb\xbf" + json_file(CARD),
        json_file(V2),
        png_with(text_chunk("chara", V2)),
        png_with(text_chunk("chara", OTHER), text_chunk("ccv3", CARD)),
        png_with(ITXT),
        png_with(ZTXT),
        charx(CARD, **{"assets/icon/images/main.png": b"x"}),
    ],
    ids=["json", "bom", "v2", "png-v2", "png-v3-first", "itxt", "ztxt", "charx"],
)
def test_every_container_gives_the_same_persona(content: bytes) -> None:
    draft = read_card(content).draft
    assert (draft.name, draft.language) == ("하나", "ko")
    assert draft.system_prompt == "너는 {{char}}다.\n\n반말로 짧게 답한다."
    assert draft.card == (
        "{{char}}는 스물여섯 살이고 부산에 산다.\n\n성격: 다정하다\n\n상황: {{user}}와 카페에서 만났다.\n\n"
        "말투 예시:\n{{user}}: 안녕\n{{char}}: 왔어?"
    )


def test_an_entry_of_the_lorebook_has_its_rules() -> None:
    book = read_card(json_file(CARD)).draft.keyed_lorebook
    assert (book.scan_depth, book.token_budget, book.recursive) == (3, 400, True)
    entry = book.entries[0]
    assert (entry.keys, entry.secondary_keys) == (("면접", "interview"), ("회사",))
    assert (entry.selective, entry.logic, entry.scan_depth, entry.order) == (True, "all", 5, 10)
    assert (entry.enabled, entry.constant, entry.name, entry.regex) == (True, False, "면접 이야기", False)


def test_the_import_says_what_it_keeps_and_what_it_leaves_out() -> None:
    read = read_card(png_with(text_chunk("ccv3", CARD)))
    assert {"first_mes", "future_field", "extensions.risuai", "future_root", "tags"} <= set(read.kept)
    assert "character_book.entries.extensions.probability" in read.kept
    assert not {"description", "system_prompt", "name", "spec"} & set(read.kept)
    assert read.left_out == ("image", "assets")
    assert read_card(json_file(V2 | {"data": {"name": "x"}})).kept == ("future_root",)


@pytest.mark.req("INT-4")
@pytest.mark.parametrize(
    ("fields", "is_reported"),
    [
        ({"keys": ["/면.접/i"]}, True),
        ({"keys": ["면접"]}, False),
        ({"keys": ["면접"], "use_regex": True}, True),
    ],
)
def test_the_import_says_that_regular_expressions_are_not_used(
    fields: dict[str, Any], is_reported: bool
) -> None:
    entry = {"content": "…", "enabled": True, "insertion_order": 1, **fields}
    data = {"name": "하나", "character_book": {"entries": [entry]}}
    read = read_card(json_file({"spec": "chara_card_v3", "spec_version": "3.0", "data": data}))
    assert ("character_book.entries.keys (regular expressions)" in read.kept) is is_reported


def test_an_export_gives_back_every_field() -> None:
    draft = read_card(json_file(CARD)).draft
    exported = json.loads(card_bytes(draft))
    assets = [each for each in CARD["data"]["assets"] if each["uri"] == "ccdefault:"]
    written = exported["data"].pop("character_book")
    wanted = {**CARD["data"], "assets": assets}
    book = wanted.pop("character_book")
    assert exported["data"] == wanted
    assert exported["future_root"] == "root"
    entry = written.pop("entries")[0]
    assert written == {name: book[name] for name in book if name != "entries"}
    assert {name: entry[name] for name in ENTRY} == ENTRY
    assert (
        read_card(
            json_file(
                exported | {"data": exported["data"] | {"character_book": {**written, "entries": [entry]}}}
            )
        ).draft
        == draft
    )


def test_an_edited_text_replaces_the_one_of_the_card() -> None:
    draft = read_card(json_file(CARD)).draft
    edited = draft.model_copy(update={"card": "새 설명", "name": "두리"})
    data = json.loads(card_bytes(edited))["data"]
    assert (data["name"], data["description"], data["personality"]) == ("두리", "새 설명", "")
    assert data["system_prompt"] == CARD["data"]["system_prompt"]
    assert read_card(card_bytes(edited)).draft.card == "새 설명"


def test_a_persona_of_gieok_survives_the_way_there_and_back() -> None:
    persona = PersonaDraft(
        name="Max",
        system_prompt="You are Max.",
        card="An old friend.",
        lorebook=("Max lives in Busan.",),
        boundaries=("No medical advice.",),
        relationships=("They met at school.",),
    )
    card = card_bytes(persona)
    data = json.loads(card)["data"]
    assert "No medical advice." in data["system_prompt"]
    assert data["character_book"]["entries"][0]["constant"] is True
    for content in (card, write_png(card), write_png(card, png_with(text_chunk("chara", OTHER)))):
        again = read_card(content).draft
        assert again.model_copy(update={"kept": {}}) == persona
    data["system_prompt"] += " Edited elsewhere."
    edited = read_card(json_file({"spec": "chara_card_v3", "data": data})).draft
    assert edited.system_prompt.endswith("Edited elsewhere.")
    assert edited.boundaries == ()


def test_a_card_of_the_first_format_is_read() -> None:
    draft = read_card(json_file({"name": "Max", "description": "An old friend.", "first_mes": "Hi"})).draft
    assert (draft.name, draft.card, draft.language) == ("Max", "An old friend.", "en")


def test_world_info_is_a_lorebook() -> None:
    read = read_file(json_file(world_info(disable=True)))
    assert isinstance(read, ReadBook)
    entry = read.book.entries[0]
    assert (entry.keys, entry.secondary_keys, entry.order) == (("해운대",), ("바다",), 50)
    assert (entry.enabled, entry.selective, entry.found_by_others) == (False, True, False)
    assert entry.kept["extensions"] == {
        "selectiveLogic": 0,
        "position": 1,
        "exclude_recursion": True,
        "probability": 100,
        "scan_depth": None,
        "case_sensitive": None,
        "match_whole_words": None,
    }
    spec = {"spec": "lorebook_v3", "data": CARD["data"]["character_book"]}
    book = read_file(json_file(spec))
    assert isinstance(book, ReadBook)
    assert book.book == read_card(json_file(CARD)).draft.keyed_lorebook


def test_names_stand_in_place_of_the_placeholders() -> None:
    draft = read_card(json_file(CARD)).draft
    text = persona_prompt("p", 1, draft, "민수").system_prompt
    assert "하나짱는 스물여섯 살" in text
    assert "민수와 카페에서" in text
    assert "{{" not in text
    unnamed = draft.model_copy(update={"kept": {}, "card": "{{CHAR}}와 {{User}}{{// 메모}}"})
    assert persona_prompt("p", 1, unnamed, None).system_prompt.endswith("하나와 사용자")


WRONG: list[tuple[dict[str, Any], str | None]] = [
    ({}, "data.name"),
    ({"name": ""}, "data.name"),
    ({"name": 5}, "data.name"),
    ({"name": "x", "description": ["a"]}, "data.description"),
    ({"name": "x", "description": "가" * 20_001}, "data.card"),
    ({"name": "x", "extensions": []}, None),
    ({"name": "x", "extensions": [1]}, "data.extensions"),
    ({"name": "x", "character_book": {"entries": 1}}, "character_book.entries"),
    ({"name": "x", "character_book": {"entries": [{"keys": [1]}]}}, "character_book.entries[0].keys"),
    ({"name": "x", "character_book": {"entries": [{}] * 1_001}}, "character_book.entries"),
    (
        {"name": "x", "character_book": {"entries": [{"enabled": "yes"}]}},
        "character_book.entries[0].enabled",
    ),
]


@pytest.mark.parametrize(("data", "place"), WRONG)
def test_a_wrong_field_is_named(data: dict[str, Any], place: str | None) -> None:
    content = json_file({"spec": "chara_card_v2", "data": data})
    if place is None:
        read_card(content)
        return
    with pytest.raises(InputRefused) as refused:
        read_file(content)
    assert refused.value.at == place
