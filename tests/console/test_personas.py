"""The page `personas`: counts, memory on and off, create, import, export, delete."""

from __future__ import annotations

import json
import re

import pytest

from tests.console.conftest import Browser, text_of
from tests.rest.routes.conftest import Api

CARD = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {"name": "하나", "description": "부산에서 책방을 한다.", "first_mes": "왔어?"},
}


def test_without_personas_the_page_says_what_to_do(browser: Browser) -> None:
    assert "No personas yet" in browser.get("/personas")
    assert "nobody to talk to" in browser.get("/chat")


def test_a_card_has_the_counts_of_the_api(browser: Browser, api: Api) -> None:
    persona = api.persona("하나")
    memories = [api.memory(persona, f"기억 {number}") for number in range(3)]
    api.post(f"/memory/{memories[0]['id']}/archive", None)
    counts = api.get(f"/personas/{persona}/memory-config")["counts"]
    shown = [int(each) for each in re.findall(r'<dd class="num">([\d,]+)</dd>', browser.get("/personas"))]
    assert shown[:2] == [counts["active"], counts["archived"]] == [2, 1]


def test_create_a_persona(browser: Browser, api: Api) -> None:
    browser.post("/personas", {"name": "하나", "prompt": "짧게 말한다."})
    (created,) = api.get("/personas")["personas"]
    assert (created["name"], created["systemPrompt"]) == ("하나", "짧게 말한다.")


@pytest.mark.parametrize(("name", "prompt", "field"), [("", "x", "name"), ("x", "가" * 20_001, "prompt")])
def test_a_wrong_field_is_named_and_nothing_is_created(
    browser: Browser, api: Api, name: str, prompt: str, field: str
) -> None:
    page = browser.post("/personas", {"name": name, "prompt": prompt}, 422).text
    assert f'id="error-{field}"' in page
    assert api.get("/personas")["personas"] == []


def test_recall_is_switched_off_and_on(browser: Browser, api: Api) -> None:
    persona = api.persona()
    browser.post(f"/personas/{persona}/memory", {"recall": "off"})
    assert api.get(f"/personas/{persona}/memory-config")["config"]["recall"] is False
    assert "Recall is off" in browser.get("/personas")
    browser.post(f"/personas/{persona}/memory", {"recall": "on"})
    assert api.get(f"/personas/{persona}/memory-config")["config"]["recall"] is True


def test_import_a_card_and_export_it(browser: Browser, api: Api) -> None:
    file = ("hana.json", json.dumps(CARD).encode(), "application/json")
    answer = browser.http.post("/console/personas/import", data={"csrf": browser.csrf}, files={"file": file})
    assert answer.status_code == 303, answer.text
    (persona,) = api.get("/personas")["personas"]
    assert persona["name"] == "하나"
    exported = browser.http.get(f"/console/personas/{persona['id']}/export")
    assert exported.headers["content-disposition"].startswith("attachment")
    assert exported.json()["data"]["name"] == "하나"
    assert browser.http.get(f"/console/personas/{persona['id']}/export?png=true").content[:4] == b"\x89PNG"


@pytest.mark.parametrize("content", [b"", b"not a card", b"{}"])
def test_a_file_that_is_no_card_is_refused_beside_its_field(
    browser: Browser, api: Api, content: bytes
) -> None:
    answer = browser.http.post(
        "/console/personas/import", data={"csrf": browser.csrf}, files={"file": ("x.json", content)}
    )
    assert answer.status_code == 422
    assert 'id="error-file"' in answer.text
    assert api.get("/personas")["personas"] == []


def test_an_import_without_the_sessions_value_is_refused(browser: Browser, api: Api) -> None:
    answer = browser.http.post("/console/personas/import", files={"file": ("x.json", json.dumps(CARD))})
    assert answer.status_code == 403
    assert api.get("/personas")["personas"] == []


def test_deleting_asks_first_and_says_what_goes(browser: Browser, api: Api) -> None:
    persona = api.persona("하나")
    api.memory(persona, "기억")
    asked = text_of(browser.get(f"/personas/{persona}/delete"))
    assert "Delete 하나?" in asked
    assert "1 memories" in asked
    api.get(f"/personas/{persona}")
    browser.post(f"/personas/{persona}/delete")
    api.get(f"/personas/{persona}", 404)
