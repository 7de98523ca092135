"""The calls of memory, as the specification words them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api

FILM = "사용자가 새로운 영화를 봤고 매우 재미있었다고 함. 다음주에 또 영화관에 갈 예정."
SAID = [
    {"role": "user", "content": "새로 나온 영화 봤는데 정말 재미있었어!"},
    {"role": "assistant", "content": "와, 무슨 영화였어?"},
    {"role": "user", "content": "우주 영화야. 다음주에 또 보러 갈 거야"},
]


def messages(*names: str) -> list[dict[str, Any]]:
    return [{"id": name, **said} for name, said in zip(names, SAID, strict=False)]


def test_a_memory_is_kept_as_it_was_written(api: Api) -> None:
    """Every field that was given comes back, the emotion in Korean, the rest by default."""
    memory = api.memory(
        "persona_123",
        FILM,
        sessionId="session_456",
        topics=["영화", "여가활동"],
        emotion="joy",
        importance=7,
        tags=["주말"],
        speaker="민수",
        occurredAt="2025-10-27T21:00:00+09:00",
    )
    assert memory["occurredAt"] == "2025-10-27T12:00:00Z"
    assert memory["createdAt"].endswith("Z")
    assert memory | {"id": 0, "createdAt": 0} == {
        "id": 0,
        "personaId": "persona_123",
        "sessionId": "session_456",
        "summary": FILM,
        "topics": ["영화", "여가활동"],
        "emotion": "기쁨",
        "importance": 7,
        "tags": ["주말"],
        "speaker": "민수",
        "origin": "manual",
        "createdAt": 0,
        "occurredAt": "2025-10-27T12:00:00Z",
        "archivedAt": None,
        "version": 1,
    }
    assert api.get(f"/memory/{memory['id']}")["memory"] == memory


def test_emotions_speak_the_language_of_the_client(api: Api) -> None:
    """Both names are taken; the answer has the one that the client asked for."""
    memory = api.memory("hana", "면접이 다가옴", emotion="스트레스")
    answer = api.call("GET", f"/memory/{memory['id']}", headers={"Accept-Language": "en-GB,en;q=0.9"})
    assert (memory["emotion"], answer["memory"]["emotion"]) == ("스트레스", "stress")


def test_messages_become_a_memory_by_the_model(api: Api) -> None:
    """Without a written summary the messages are summarised; what the client knows goes before it."""
    body = {"personaId": "hana", "messages": SAID, "importance": 9, "tags": ["주말"]}
    memory = api.post("/memory/create", body, 201)["memory"]
    assert "영화" in memory["summary"]
    assert (memory["origin"], memory["importance"], memory["tags"]) == ("summary", 9, ["주말"])


def test_a_memory_needs_words_or_messages(api: Api) -> None:
    assert api.post("/memory/create", {"personaId": "hana"}, 422)["at"] == "manualSummary"
    both = {"personaId": "hana", "manualSummary": "하나", "summary": "둘"}
    assert api.post("/memory/create", both, 422)["at"] == "summary"


def test_a_written_memory_may_come_without_messages(api: Api) -> None:
    """The specification's request has both fields, so the list may be empty."""
    body: dict[str, Any] = {
        "personaId": "hana",
        "sessionId": "session_456",
        "messages": [],
        "manualSummary": "수동 요약 텍스트",
    }
    memory = api.post("/memory/create", body, 201)["memory"]
    assert (memory["summary"], memory["origin"]) == ("수동 요약 텍스트", "manual")


def test_a_request_under_the_same_key_is_answered_once(api: Api) -> None:
    """The same key and body give the same memory; another body under that key is a conflict."""
    body = {"personaId": "hana", "manualSummary": "면접을 앞둠"}
    first = api.post("/memory/create", body, 201, **{"Idempotency-Key": "k1"})
    again = api.post("/memory/create", body, 201, **{"Idempotency-Key": "k1"})
    assert first["memory"] == again["memory"]
    assert api.get("/memory/list")["total"] == 1
    other = api.post("/memory/create", body | {"importance": 9}, 409, **{"Idempotency-Key": "k1"})
    assert other["error"] == "CONFLICT"
    refused = api.post("/memory/create", body, 422, **{"Idempotency-Key": "x" * 300})
    assert refused["at"] == "Idempotency-Key"


def test_memories_are_listed_in_pages(api: Api) -> None:
    """Newest first, counted in all, of one persona or of every one, archived ones on request."""
    made = [api.memory("hana", f"이야기 {number}")["id"] for number in range(3)]
    api.memory("mina", "다른 이야기")
    api.post(f"/memory/{made[0]}/archive", None)
    first = api.get("/memory/list", personaId="hana", limit=1)
    assert ([each["id"] for each in first["memories"]], first["total"], first["hasMore"]) == (
        [made[2]],
        2,
        True,
    )
    last = api.get("/memory/list", personaId="hana", limit=1, offset=1)
    assert ([each["id"] for each in last["memories"]], last["hasMore"]) == ([made[1]], False)
    assert api.get("/memory/list", personaId="hana", includeArchived="true")["total"] == 3
    assert api.get("/memory/list")["total"] == 3


def test_a_conversation_begins_with_the_most_important(api: Api) -> None:
    for importance in (3, 9, 6):
        api.memory("hana", f"중요도 {importance}", importance=importance)
    loaded = api.get("/memory/load", personaId="hana", limit=2)
    assert [each["importance"] for each in loaded["memories"]] == [9, 6]


def test_a_search_says_why(api: Api) -> None:
    """Each hit has its score, the words that matched, its signals and its age."""
    api.memory("hana", "사용자가 IT 스타트업 면접을 앞두고 있음", topics=["면접"])
    api.memory("hana", "주말에 등산을 다녀옴")
    (hit,) = api.get("/memory/search", personaId="hana", q="면접은 어땠어?")["memories"]
    assert hit["score"] > 0
    assert "면접" in "".join(hit["why"]["matchedWords"])
    assert set(hit["why"]) == {"matchedWords", "signals", "ageDays", "filled"}
    assert set(hit["why"]["signals"]["bm25"]) == {"value", "weight", "rank"}


def test_a_memory_is_edited_in_the_version_that_was_seen(api: Api) -> None:
    """If-Match and `version` guard an edit; an older one is a conflict and changes nothing."""
    memory = api.memory("hana", "처음")
    path = f"/memory/{memory['id']}"
    assert api.http.get(f"/api/v1{path}").headers["ETag"] == '"1"'
    edited = api.http.patch(
        f"/api/v1{path}", json={"summary": "수정된 요약", "importance": 9}, headers={"If-Match": '"1"'}
    )
    assert edited.headers["ETag"] == '"2"'
    assert edited.json()["memory"]["summary"] == "수정된 요약"
    assert (
        api.call("PATCH", path, 409, json={"tags": ["새"]}, headers={"If-Match": '"1"'})["error"]
        == "CONFLICT"
    )
    assert api.call("PATCH", path, 409, json={"tags": ["새"], "version": 1})["error"] == "CONFLICT"
    assert api.call("PATCH", path, json={"tags": ["새"], "version": 2})["memory"]["tags"] == ["새"]
    assert api.call("PATCH", path, 422, json={}, headers={"If-Match": "latest"})["at"] == "If-Match"
    both = api.call("PATCH", path, 422, json={"version": 2}, headers={"If-Match": '"3"'})
    assert both["at"] == "version"


def test_archiving_restoring_and_deleting(api: Api) -> None:
    memory = api.memory("hana", "이야기")
    archived = api.post(f"/memory/{memory['id']}/archive", None)
    assert archived["archivedAt"] == archived["memory"]["archivedAt"] is not None
    assert api.post(f"/memory/{memory['id']}/restore", None)["memory"]["archivedAt"] is None
    assert api.call("DELETE", f"/memory/{memory['id']}") == {"success": True}
    assert api.get(f"/memory/{memory['id']}", 404)["error"] == "NOT_FOUND"
    assert api.call("DELETE", f"/memory/{memory['id']}", 404)["error"] == "NOT_FOUND"


@pytest.mark.req("COMP-4", "COMP-5")
def test_places_go_by_the_plan_of_the_token(shared: Server, api: Api) -> None:
    """Free: a sixth memory archives one, unless that is forbidden, and a restore finds no place."""
    made = [api.memory("hana", f"이야기 {number}", importance=number + 1) for number in range(5)]
    refused = api.post(
        "/memory/create", {"personaId": "hana", "summary": "여섯째", "autoArchive": False}, 409
    )
    assert refused["error"] == "MEMORY_LIMIT_REACHED"
    kept = api.post("/memory/create", {"personaId": "hana", "summary": "여섯째", "importance": 10}, 201)
    assert kept["archived"] == [made[0]["id"]]
    assert kept["notices"][0] == "메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다."
    assert api.post(f"/memory/{made[0]['id']}/restore", None, 409)["error"] == "MEMORY_LIMIT_REACHED"
    with shared.client(f"rich-{uuid4()}", "premium") as client:
        rich = Api(client)
        for number in range(6):
            rich.memory("hana", f"이야기 {number}")
        assert rich.get("/memory/list")["total"] == 6


@pytest.mark.req("COMP-1")
def test_a_session_is_summarised_on_request(api: Api) -> None:
    """An unknown session begins with the messages; each message is summarised once."""
    persona = api.persona()
    body = {"sessionId": "session_456", "personaId": persona, "messages": messages("m1", "m2", "m3")}
    made = api.post("/memory/summarize", body)
    assert "영화" in made["memory"]["summary"]
    assert made["memory"]["sessionId"] == "session_456"
    assert api.post("/memory/summarize", body)["memory"] is None
    assert api.get("/sessions/session_456")["session"]["messageCount"] == 3
    del body["messages"]
    assert api.post("/memory/summarize", body)["memory"] is None
    other = api.post("/memory/summarize", body | {"personaId": api.persona("미나")}, 409)
    assert other["error"] == "CONFLICT"
    assert api.post("/memory/summarize", body | {"sessionId": "nobody"}, 404)["error"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({}, "personaId"),
        ({"personaId": "hana", "summary": ""}, "summary"),
        ({"personaId": "hana", "summary": "가" * 4001}, "summary"),
        ({"personaId": "hana", "summary": "x", "importance": "5"}, "importance"),
        ({"personaId": "hana", "summary": "x", "importance": True}, "importance"),
        ({"personaId": "hana", "summary": "x", "importance": 5.0}, "importance"),
        ({"personaId": "hana", "summary": "x", "importance": 11}, "importance"),
        ({"personaId": "hana", "summary": "x", "importance": 10**30}, "importance"),
        ({"personaId": "hana", "summary": "x", "emotion": "angry"}, "emotion"),
        ({"personaId": "hana", "summary": "x", "topics": "영화"}, "topics"),
        ({"personaId": "hana", "summary": "x", "topics": ["x"] * 33}, "topics"),
        ({"personaId": "hana", "summary": "x", "tags": ["", "y"]}, "tags[0]"),
        ({"personaId": "hana", "summary": "x", "occurredAt": "yesterday"}, "occurredAt"),
        ({"personaId": "hana", "summary": "x", "occurredAt": "2025-10-27T12:00:00"}, "occurredAt"),
        ({"personaId": "hana", "summary": "x", "occurredAt": "0001-01-01T00:00:00+14:00"}, "occurredAt"),
        ({"personaId": "hana", "summary": "x", "occurredAt": 1730000000}, "occurredAt"),
        ({"personaId": "hana", "summary": "x", "autoArchive": "no"}, "autoArchive"),
        ({"personaId": "하 나", "summary": "x"}, "personaId"),
        ({"personaId": "hana", "summary": "x", "userId": "someone"}, "userId"),
        ({"personaId": "hana", "messages": []}, "manualSummary"),
        (
            {"personaId": "hana", "messages": [SAID[0], {"role": "system", "content": "x"}]},
            "messages[1].role",
        ),
        ({"personaId": "hana", "messages": [{"role": "user", "content": ""}]}, "messages[0].content"),
        (
            {"personaId": "hana", "messages": [{"id": "a b", "role": "user", "content": "x"}]},
            "messages[0].id",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(api: Api, body: dict[str, Any], at: str) -> None:
    refused = api.post("/memory/create", body, 422)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)


@pytest.mark.parametrize(
    ("path", "query", "at"),
    [
        ("load", {}, "personaId"),
        ("load", {"personaId": "hana", "limit": 0}, "limit"),
        ("list", {"limit": -1}, "limit"),
        ("list", {"limit": 10**30}, "limit"),
        ("list", {"offset": -1}, "offset"),
        ("list", {"offset": 10**30}, "offset"),
        ("list", {"includeArchived": "maybe"}, "includeArchived"),
        ("list", {"personaId": "a b"}, "personaId"),
        ("search", {"personaId": "hana"}, "q"),
        ("search", {"personaId": "hana", "q": ""}, "q"),
        ("search", {"personaId": "hana", "q": "가" * 4_001}, "q"),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused(api: Api, path: str, query: dict[str, Any], at: str) -> None:
    refused = api.get(f"/memory/{path}", 422, **query)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)


@pytest.mark.parametrize("name", ["7", "not-a-uuid", "..%2F..%2Fetc", "가", "{7f9c2ba4}"])
def test_an_id_that_cannot_be_one_is_not_found(api: Api, name: str) -> None:
    """Never a 422: what cannot exist does not exist."""
    path = f"/memory/{name}"
    assert api.get(path, 404)["error"] == "NOT_FOUND"
    assert api.call("PATCH", path, 404, json={})["error"] == "NOT_FOUND"
    assert api.call("DELETE", path, 404)["error"] == "NOT_FOUND"
    assert api.call("POST", f"{path}/archive", 404)["error"] == "NOT_FOUND"
    assert api.call("POST", f"{path}/restore", 404)["error"] == "NOT_FOUND"
