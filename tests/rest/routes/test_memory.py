"""The memory routes of the specification."""

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


def test_a_manual_memory_is_stored_as_written(api: Api) -> None:
    """Every given field is returned, the emotion in Korean, and defaults for the others."""
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


def test_emotions_are_in_the_language_of_the_client(api: Api) -> None:
    """Names in both languages are accepted. The answer uses the language of the client."""
    memory = api.memory("hana", "면접이 다가옴", emotion="스트레스")
    answer = api.call("GET", f"/memory/{memory['id']}", headers={"Accept-Language": "en-GB,en;q=0.9"})
    assert (memory["emotion"], answer["memory"]["emotion"]) == ("스트레스", "stress")


def test_the_model_summarises_messages(api: Api) -> None:
    """Without `manualSummary`. Fields of the request take precedence over the model's."""
    body = {"personaId": "hana", "messages": SAID, "importance": 9, "tags": ["주말"]}
    memory = api.post("/memory/create", body, 201)["memory"]
    assert "영화" in memory["summary"]
    assert (memory["origin"], memory["importance"], memory["tags"]) == ("summary", 9, ["주말"])


def test_a_memory_needs_a_summary_or_messages(api: Api) -> None:
    assert api.post("/memory/create", {"personaId": "hana"}, 422)["at"] == "manualSummary"
    both = {"personaId": "hana", "manualSummary": "하나", "summary": "둘"}
    assert api.post("/memory/create", both, 422)["at"] == "summary"


def test_a_manual_memory_needs_no_messages(api: Api) -> None:
    """The specification's request has both fields, so the list may be empty."""
    body: dict[str, Any] = {
        "personaId": "hana",
        "sessionId": "session_456",
        "messages": [],
        "manualSummary": "수동 요약 텍스트",
    }
    memory = api.post("/memory/create", body, 201)["memory"]
    assert (memory["summary"], memory["origin"]) == ("수동 요약 텍스트", "manual")


def test_an_idempotency_key_creates_one_memory(api: Api) -> None:
    """The same key and body return the same memory. Another body with that key is 409."""
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
    """Newest first, with a total, of one persona or of all, with archived memories on request."""
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


def test_load_returns_the_most_important_first(api: Api) -> None:
    for importance in (3, 9, 6):
        api.memory("hana", f"중요도 {importance}", importance=importance)
    loaded = api.get("/memory/load", personaId="hana", limit=2)
    assert [each["importance"] for each in loaded["memories"]] == [9, 6]


def test_a_search_explains_its_hits(api: Api) -> None:
    """Each hit has its score, the matched words, its signals and its age."""
    api.memory("hana", "사용자가 IT 스타트업 면접을 앞두고 있음", topics=["면접"])
    api.memory("hana", "주말에 등산을 다녀옴")
    (hit,) = api.get("/memory/search", personaId="hana", q="면접은 어땠어?")["memories"]
    assert hit["score"] > 0
    assert "면접" in "".join(hit["why"]["matchedWords"])
    assert set(hit["why"]) == {
        "matchedWords",
        "missingWords",
        "matchedFields",
        "known",
        "signals",
        "confidence",
        "ageDays",
        "filled",
    }
    assert 0 < hit["confidence"] <= 1
    assert set(hit["why"]["confidence"]) == {"words", "meaning"}
    assert set(hit["why"]["signals"]["bm25"]) == {"value", "weight", "rank"}


def test_a_search_leaves_out_hits_with_less_confidence(api: Api) -> None:
    api.memory("hana", "주말에 등산을 다녀옴")
    query: dict[str, Any] = {"personaId": "hana", "q": "등산 장비를 파는 가게"}
    (hit,) = api.get("/memory/search", **query)["memories"]
    assert hit["confidence"] < 0.9
    assert api.get("/memory/search", minConfidence="0.9", **query)["memories"] == []
    refused = api.get("/memory/search", status=422, minConfidence="2", **query)
    assert "minConfidence" in str(refused)


@pytest.mark.req("MIND-10", "MIND-15")
def test_a_search_finds_messages_and_facts_by_their_kind(api: Api) -> None:
    """One ranking; a message has who said it, where and when, and a fact its fields and its source."""
    persona = api.persona()
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    said = {"id": "m1", "role": "user", "content": "부산에서 면접이 있어", "speaker": "민수"}
    api.post(f"/sessions/{session}/messages", {"messages": [said], "remember": False})
    fact = {"category": "EVENT", "key": "면접", "value": "부산 회사 면접"}
    api.call("PUT", f"/personas/{persona}/state", json=fact)
    query: dict[str, Any] = {"personaId": persona, "q": "부산 면접"}
    found = {hit["kind"]: hit for hit in api.get("/memory/search", **query, kinds="all")["memories"]}
    assert set(found) == {"message", "fact"}
    assert found["message"].items() >= {**said, "sessionId": session}.items()
    assert found["message"]["timestamp"].endswith("Z")
    assert found["fact"].items() >= {**fact, "subject": "user", "source": None}.items()
    assert all(hit["why"]["matchedWords"] and hit["score"] > 0 for hit in found.values())
    only = api.get("/memory/search", **query, kinds="message")
    assert ([hit["kind"] for hit in only["memories"]], only["degraded"]) == (["message"], [])
    assert api.get("/memory/search", **query)["memories"] == []
    (logged,) = api.get(f"/sessions/{session}/messages")["messages"]
    assert logged["speaker"] == "민수"


def test_an_edit_checks_the_version(api: Api) -> None:
    """By If-Match or `version`. An older version is 409 and changes nothing."""
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


@pytest.mark.req("COMP-9")
def test_every_field_of_a_memory_can_be_edited(api: Api) -> None:
    """The old words no longer find it. A list can be filtered by the new ones."""
    persona = api.persona()
    made = api.memory(persona, "주말을 보냈다", topics=["등산"], tags=["여행"], emotion="평온")
    changes = {"topics": ["수영"], "tags": ["운동"], "emotion": "joy"}
    edited = api.call("PATCH", f"/memory/{made['id']}", json=changes)["memory"]
    assert (edited["topics"], edited["tags"], edited["emotion"]) == (["수영"], ["운동"], "기쁨")
    hits = api.get("/memory/search", personaId=persona, q="등산")["memories"]
    assert not any(hit["why"]["matchedWords"] for hit in hits)
    assert api.get("/memory/search", personaId=persona, q="수영")["memories"][0]["why"]["matchedWords"]
    soon = "2999-01-01T00:00:00Z"
    for query, total in (
        ("tag=운동&topic=수영&emotion=기쁨&origin=manual", 1),
        (f"from={made['occurredAt']}&to={soon}", 1),
        ("tag=여행", 0),
        ("topic=등산", 0),
        ("emotion=calm", 0),
        ("origin=excerpt", 0),
        (f"from={soon}", 0),
    ):
        assert api.call("GET", f"/memory/list?{query}")["total"] == total, query
    assert api.call("GET", "/memory/list?from=yesterday", 422)["at"] == "from"
    assert api.get("/memory/list", 422, emotion="rage")["at"] == "emotion"
    assert api.call("PATCH", f"/memory/{made['id']}", 422, json={"emotion": "rage"})["at"] == "emotion"


@pytest.mark.req("COMP-9")
def test_the_history_of_a_memory_has_its_former_versions(api: Api) -> None:
    made = api.memory(api.persona(), "면접을 준비함", emotion="스트레스")
    edited = api.call("PATCH", f"/memory/{made['id']}", json={"summary": "합격함"})["memory"]
    first, current = api.get(f"/memory/{made['id']}/history")["versions"]
    assert first | {"replacedAt": None} == made | {"replacedAt": None}
    assert first["replacedAt"] is not None
    assert current == edited | {"replacedAt": None}
    assert api.get("/memory/7/history", 404)["error"] == "NOT_FOUND"


@pytest.mark.req("COMP-8", "COMP-9")
def test_moments_are_listed_and_all_memories_deleted(api: Api) -> None:
    persona, other = api.persona(), api.persona("두리")
    for number in range(3):
        api.memory(persona, f"기쁜 일 {number}", importance=9, emotion="기쁨")
    api.memory(other, "다른 기억")
    page = api.get(f"/personas/{persona}/moments", limit=2)
    assert [(each["moment"], each["emotion"]) for each in page["moments"]] == [
        ("기쁜 일 2", "기쁨"),
        ("기쁜 일 1", "기쁨"),
    ]
    rest = api.get(f"/personas/{persona}/moments", cursor=page["nextCursor"])
    assert ([each["moment"] for each in rest["moments"]], rest["nextCursor"]) == (["기쁜 일 0"], None)
    assert api.get("/personas/nobody/moments", 404)["error"] == "NOT_FOUND"
    assert api.call("DELETE", f"/memory?personaId={persona}") == {"success": True, "deleted": 3}
    assert api.get(f"/personas/{persona}/moments")["moments"] == []
    assert api.call("DELETE", "/memory")["deleted"] == 1
    assert api.get(f"/personas/{persona}")["persona"]["id"] == persona


def test_archiving_restoring_and_deleting(api: Api) -> None:
    memory = api.memory("hana", "이야기")
    archived = api.post(f"/memory/{memory['id']}/archive", None)
    assert archived["archivedAt"] == archived["memory"]["archivedAt"] is not None
    assert api.post(f"/memory/{memory['id']}/restore", None)["memory"]["archivedAt"] is None
    assert api.call("DELETE", f"/memory/{memory['id']}") == {"success": True}
    assert api.get(f"/memory/{memory['id']}", 404)["error"] == "NOT_FOUND"
    assert api.call("DELETE", f"/memory/{memory['id']}", 404)["error"] == "NOT_FOUND"


@pytest.mark.req("COMP-4", "COMP-5")
def test_the_memory_limit_depends_on_the_account_plan(shared: Server, api: Api) -> None:
    """Free: a sixth memory archives one, unless `autoArchive` is false. A restore is refused."""
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
    """An unknown session is started with the messages. Each message is summarised once."""
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
def test_an_invalid_body_is_refused_with_its_place(api: Api, body: dict[str, Any], at: str) -> None:
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
        ("search", {"personaId": "hana", "q": "면접", "kinds": "memory,thing"}, "kinds"),
        ("search", {"personaId": "hana", "q": "면접", "kinds": ""}, "kinds"),
        ("search", {"personaId": "hana", "q": "가" * 4_001}, "q"),
    ],
)
def test_an_invalid_query_is_refused(api: Api, path: str, query: dict[str, Any], at: str) -> None:
    refused = api.get(f"/memory/{path}", 422, **query)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)


@pytest.mark.parametrize("name", ["7", "not-a-uuid", "..%2F..%2Fetc", "가", "{7f9c2ba4}"])
def test_a_malformed_id_is_not_found(api: Api, name: str) -> None:
    """404, not 422: it cannot exist."""
    path = f"/memory/{name}"
    assert api.get(path, 404)["error"] == "NOT_FOUND"
    assert api.call("PATCH", path, 404, json={})["error"] == "NOT_FOUND"
    assert api.call("DELETE", path, 404)["error"] == "NOT_FOUND"
    assert api.call("POST", f"{path}/archive", 404)["error"] == "NOT_FOUND"
    assert api.call("POST", f"{path}/restore", 404)["error"] == "NOT_FOUND"


def test_a_batch_is_stored_in_order(api: Api) -> None:
    bodies = [{"personaId": "hana", "summary": f"{number}번째 면접", "tags": ["일"]} for number in range(3)]
    answer = api.post("/memory/batch", {"memories": bodies}, 201)
    assert (answer["archived"], answer["notices"]) == ([], [])
    stored = [api.get(f"/memory/{created['id']}")["memory"] for created in answer["created"]]
    assert [memory["summary"] for memory in stored] == ["0번째 면접", "1번째 면접", "2번째 면접"]
    assert stored[0]["origin"] == "manual"
    assert api.get("/memory/list?personaId=hana")["total"] == 3


@pytest.mark.parametrize(
    ("bad", "at"),
    [
        ({"personaId": "hana"}, "memories[1].manualSummary"),
        ({"personaId": "hana", "messages": SAID}, "memories[1].messages"),
        ({"personaId": "hana", "summary": "x", "importance": 11}, "memories[1].importance"),
        ({"personaId": "hana", "summary": "x", "wrong": 1}, "memories[1].wrong"),
        ({"personaId": "", "summary": "x"}, "memories[1].personaId"),
    ],
)
def test_one_bad_item_refuses_the_whole_batch(api: Api, bad: dict[str, Any], at: str) -> None:
    good = {"personaId": "hana", "summary": "x"}
    answer = api.post("/memory/batch", {"memories": [good, bad, good]}, 422)
    assert (answer["error"], answer["at"]) == ("VALIDATION_FAILED", at)
    assert api.get("/memory/list?personaId=hana")["total"] == 0


@pytest.mark.parametrize("count", [0, 1_001])
def test_a_batch_has_1_to_1000_memories(api: Api, count: int) -> None:
    bodies = [{"personaId": "hana", "summary": "x"}] * count
    assert api.post("/memory/batch", {"memories": bodies}, 422)["at"] == "memories"


def test_a_repeated_batch_is_stored_once(api: Api) -> None:
    body = {"memories": [{"personaId": "hana", "summary": "면접"}, {"personaId": "duri", "summary": "영화"}]}
    key = {"Idempotency-Key": str(uuid4())}
    first = api.call("POST", "/memory/batch", 201, json=body, headers=key)
    assert api.call("POST", "/memory/batch", 201, json=body, headers=key)["created"] == first["created"]
    other = {"memories": body["memories"][:1]}
    assert api.call("POST", "/memory/batch", 409, json=other, headers=key)["error"] == "CONFLICT"
    assert api.get("/memory/list")["total"] == 2
