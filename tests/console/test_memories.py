"""The pages `memories` and `memory` show what the API returns, and change what they say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.console.conftest import Browser, text_of
from tests.rest.routes.conftest import Api

HTMX = {"HX-Request": "true"}


def ids_in(page: str) -> list[str]:
    return re.findall(r'id="memory-([0-9a-f-]{36})"', page)


def test_an_empty_list_says_what_to_do(browser: Browser) -> None:
    assert "No memories yet" in browser.get("/memories")


def test_it_lists_what_the_api_lists(browser: Browser, api: Api) -> None:
    persona = api.persona()
    for number in range(30):
        api.memory(persona, f"기억 {number}", importance=number % 10 + 1)
    listed = [each["id"] for each in api.get("/memory/list", limit=100)["memories"]]
    first = browser.get("/memories")
    assert ids_in(first) == listed[:25]
    assert "1–25 of 30" in first
    second = browser.post("/memories", {"offset": "25"}, 200).text
    assert ids_in(second) == listed[25:]


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_inflected_word_finds_the_memory_with_its_score(
    browser: Browser, api: Api, headers: dict[str, str]
) -> None:
    """`면접이` finds `면접`, and the parts of the bar add up to the score of the API."""
    persona = api.persona()
    api.memory(persona, "내일 중요한 면접을 앞두고 있음", importance=8)
    api.memory(persona, "주말에 등산을 다녀옴")
    found = api.get("/memory/search", personaId=persona, q="면접이")["memories"]
    page = browser.post("/memories", {"q": "면접이", "persona": persona}, 200, **headers).text
    assert ids_in(page) == [each["id"] for each in found]
    for hit, bar in zip(found, re.findall(r'<svg class="bar".*?</svg>', page, re.DOTALL), strict=True):
        parts = {
            name: float(part) for name, part in re.findall(r'data-signal="(\w+)" data-part="([^"]+)"', bar)
        }
        assert sum(parts.values()) == pytest.approx(hit["score"])
        signals = {name: each["value"] * each["weight"] for name, each in hit["why"]["signals"].items()}
        assert parts == pytest.approx({name: part for name, part in signals.items() if part > 0})
    assert page.startswith("<!doctype html>") is not bool(headers)


def test_a_search_without_a_persona_looks_through_all(browser: Browser, api: Api) -> None:
    found = {api.memory(api.persona(name), f"{name}와 등산한 이야기")["id"] for name in ("하나", "두리")}
    api.memory(api.persona("세찌"), "고양이 이야기")
    assert set(ids_in(browser.post("/memories", {"q": "등산한"}, 200).text)) == found
    assert ids_in(browser.post("/memories", {"q": "등산", "status": "archived"}, 200).text) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tag", "중요"),
        ("topic", "면접"),
        ("emotion", "joy"),
        ("status", "archived"),
        ("from", "2026-02-01"),
        ("origin", "manual"),
    ],
)
def test_filters_are_those_of_the_api(browser: Browser, api: Api, field: str, value: str) -> None:
    persona = api.persona()
    api.memory(
        persona, "하나", tags=["중요"], topics=["면접"], emotion="joy", occurredAt="2026-03-01T00:00:00Z"
    )
    old = api.memory(persona, "둘", emotion="calm", occurredAt="2026-01-01T00:00:00Z")
    api.post(f"/memory/{old['id']}/archive", None)
    query: dict[str, Any] = {"from": "2026-02-01T00:00:00Z"} if field == "from" else {field: value}
    if field == "status":
        expected = [old["id"]]
    else:
        expected = [each["id"] for each in api.get("/memory/list", **query)["memories"]]
    assert ids_in(browser.post("/memories", {field: value}, 200).text) == expected


def test_the_histogram_counts_memories_by_month(browser: Browser, api: Api) -> None:
    persona, other = api.persona(), api.persona()
    for day in ("2026-01-31", "2026-03-01", "2026-03-31"):
        api.memory(persona, f"{day}의 일", occurredAt=f"{day}T12:00:00Z")
    archived = api.memory(persona, "아카이브", occurredAt="2026-03-05T12:00:00Z")
    api.post(f"/memory/{archived['id']}/archive", None)
    api.memory(other, "다른 사람", occurredAt="2025-12-01T12:00:00Z")
    page = browser.get(f"/memories?persona={persona}")
    assert re.findall(r'data-month="([\d-]+)" data-count="(\d+)"', page) == [
        ("2026-01", "1"),
        ("2026-03", "3"),
    ]
    (link,) = re.findall(r'href="/console(/memories[^"]*from=2026-03-01[^"]*)"', page)
    assert len(ids_in(browser.get(link.replace("&amp;", "&")))) == 3
    assert 'data-month="2025-12"' in browser.get("/memories")


def test_a_wrong_day_is_named_beside_its_field(browser: Browser) -> None:
    page = browser.get("/memories?from=yesterday")
    assert 'id="error-from"' in page


def test_no_content_is_in_a_url(browser: Browser, api: Api) -> None:
    """The forms send words, tags and topics in the body, and no link has them."""
    persona = api.persona()
    api.memory(persona, "비밀스러운 면접", tags=["비밀"], topics=["면접"])
    page = browser.post("/memories", {"q": "면접", "tag": "비밀", "persona": persona}, 200).text
    assert 'method="post" action="/console/memories"' in page
    urls = re.findall(r'(?:href|action|hx-\w+)="([^"]*)"', page)
    assert not any("면접" in url or "비밀" in url or "%EB" in url for url in urls)


def test_an_edit_makes_a_version_and_keeps_the_old_one(browser: Browser, api: Api) -> None:
    memory = api.memory(api.persona(), "처음", importance=5)
    form = browser.get(f"/memories/{memory['id']}/edit")
    assert 'name="version" value="1"' in form
    fields: dict[str, str | list[str]] = {
        "version": "1",
        "summary": "나중",
        "importance": "9",
        "emotion": "joy",
        "topics": "면접, 회사",
        "tags": "중요",
    }
    answer = browser.post(f"/memories/{memory['id']}", fields)
    assert answer.headers["location"] == f"/console/memories/{memory['id']}?done=saved"
    changed = api.get(f"/memory/{memory['id']}")["memory"]
    assert (changed["summary"], changed["importance"], changed["topics"], changed["tags"]) == (
        "나중",
        9,
        ["면접", "회사"],
        ["중요"],
    )
    shown = text_of(browser.get(f"/memories/{memory['id']}"))
    assert "처음" in shown
    assert "Version 2" in shown


EDIT: dict[str, str | list[str]] = {"importance": "5", "emotion": "calm", "topics": "", "tags": ""}


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_the_second_of_two_tabs_sees_the_conflict(
    browser: Browser, api: Api, headers: dict[str, str]
) -> None:
    memory = api.memory(api.persona(), "처음")
    path = f"/memories/{memory['id']}"
    browser.post(path, {**EDIT, "version": "1", "summary": "첫째 탭"})
    conflict = browser.post(path, {**EDIT, "version": "1", "summary": "둘째 탭"}, 409, **headers).text
    assert "첫째 탭" in conflict
    assert "둘째 탭" in conflict
    assert 'name="version" value="2"' in conflict
    assert api.get(f"/memory/{memory['id']}")["memory"]["summary"] == "첫째 탭"
    browser.post(path, {**EDIT, "version": "2", "summary": "둘째 탭"})
    assert api.get(f"/memory/{memory['id']}")["memory"]["summary"] == "둘째 탭"


@pytest.mark.parametrize(
    ("field", "value"), [("summary", ""), ("summary", "가" * 4001), ("importance", "11"), ("importance", "x")]
)
def test_a_wrong_value_is_named_beside_its_field_and_changes_nothing(
    browser: Browser, api: Api, field: str, value: str
) -> None:
    memory = api.memory(api.persona(), "그대로")
    fields = {**EDIT, "version": "1", "summary": "새로", field: value}
    page = browser.post(f"/memories/{memory['id']}", fields, 422).text
    assert f'id="error-{field}"' in page
    assert api.get(f"/memory/{memory['id']}")["memory"]["version"] == 1


def test_archive_restore_and_delete(browser: Browser, api: Api) -> None:
    memory = api.memory(api.persona(), "하나")
    path = f"/memories/{memory['id']}"
    browser.post(f"{path}/archive")
    assert api.get(f"/memory/{memory['id']}")["memory"]["archivedAt"]
    browser.post(f"{path}/restore")
    assert api.get(f"/memory/{memory['id']}")["memory"]["archivedAt"] is None
    browser.post(f"{path}/delete")
    api.get(f"/memory/{memory['id']}", 404)


def test_bulk_actions_change_the_ticked_ones_only(browser: Browser, api: Api) -> None:
    persona = api.persona()
    one, two, three = (api.memory(persona, f"기억 {number}")["id"] for number in range(3))
    answer = browser.post("/memories/bulk", {"id": [one, two], "action": "archive"})
    assert "done=archived&count=2" in answer.headers["location"]
    assert ids_in(browser.get("/memories?status=archived")) == [two, one]
    asked = browser.post("/memories/bulk", {"id": [one], "action": "delete"}, 200).text
    assert "Delete 1 memories for good?" in asked
    api.get(f"/memory/{one}")
    browser.post("/memories/bulk", {"id": [one], "action": "delete", "confirmed": "yes"})
    api.get(f"/memory/{one}", 404)
    assert api.get(f"/memory/{three}")["memory"]["archivedAt"] is None


def test_bulk_without_a_selection_says_so(browser: Browser, api: Api) -> None:
    api.memory(api.persona(), "하나")
    assert "Select at least one" in browser.post("/memories/bulk", {"action": "archive"}, 200).text


def test_the_source_conversation_is_shown_with_the_message_marked(browser: Browser, api: Api) -> None:
    persona = api.persona()
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    said = [("m1", "오늘은 등산을 갔어"), ("m2", "내일 중요한 면접이 있어"), ("m3", "저녁은 카레였어")]
    messages = [{"id": id_, "role": "user", "content": content} for id_, content in said]
    api.post(f"/sessions/{session}/messages", {"messages": messages, "remember": False})
    memory = api.memory(persona, "사용자가 면접을 앞두고 있음", sessionId=session)
    page = browser.get(f"/memories/{memory['id']}")
    assert "오늘은 등산을 갔어" in page
    (marked,) = re.findall(r"<mark>(.*?)</mark>", page, re.DOTALL)
    assert text_of(marked) == "내일 중요한 면접이 있어"


def test_why_gives_the_rank_the_signals_and_near_misses(browser: Browser, api: Api) -> None:
    persona = api.persona()
    wanted = api.memory(persona, "면접 준비를 도와 달라고 함")
    near = api.memory(persona, "면접 결과를 기다리는 중")
    found = api.get("/memory/search", personaId=persona, q="면접 준비")["memories"]
    assert [each["id"] for each in found] == [wanted["id"], near["id"]]
    page = browser.post(f"/memories/{wanted['id']}/why", {"q": "면접 준비"}, 200).text
    assert "Rank 1 of 2" in page
    assert f"{found[0]['score']:.3f}" in page
    assert near["id"] in page
    other = api.memory(persona, "등산")
    assert "does not find" in browser.post(f"/memories/{other['id']}/why", {"q": "면접"}, 200).text


def test_an_unknown_memory_is_a_page_not_json(browser: Browser) -> None:
    page = browser.get("/memories/00000000-0000-0000-0000-000000000000", 404)
    assert "There is no such page" in page
    assert page.startswith("<!doctype html>")
