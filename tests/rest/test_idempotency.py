"""Every route that stores something takes an Idempotency-Key: a repeated request gets the same answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from gieok.adapters.sql.scope import SqlView
from gieok.interfaces.rest.app import PREFIX, create_app
from gieok.memory.jobs.records import JobDraft, JobOutcome
from tests.rest.conftest import GENEROUS, Server
from tests.rest.routes.conftest import Api, shared
from tests.rest.test_isolation import Call, create_one_of_each, routes_of, shape

__all__ = ["shared"]

FACT = {"category": "GOAL", "key": "취업 {number}", "value": "준비 중"}
ANCHOR = {"sessionId": "{open}", "hint": "이유", "targets": [{"kind": "evidence", "id": "{evidence}"}]}
MESSAGES = [{"role": "user", "content": "내일 면접이 있어서 떨려"}, {"role": "assistant", "content": "힘내!"}]
LONG = [{"role": "user", "content": f"{number}: " + "긴 이야기 " * 100} for number in range(10)]
SUMMARIZED = {"sessionId": "new-{number}", "personaId": "{persona}", "messages": MESSAGES}


@dataclass(frozen=True)
class Write(Call):
    """A write with its own data: the same ids twice are one request, other ids are another."""

    same: str | None = None
    """The field of the answer to compare, if the rest of it may go on changing in the background."""


WRITES = [
    Write("POST /chat/send", 200, {"personaId": "{persona}", "message": "안녕"}),
    Write("POST /chat/regenerate", 200, {"sessionId": "{open}"}),
    Write("POST /sessions", 201, {"personaId": "{persona}"}),
    Write("DELETE /sessions/{session}", 200, query="?cascade=true"),
    Write("DELETE /sessions/{open}/turns/last", 200),
    Write("DELETE /sessions/{open}/turns/{turn}", 200),
    Write("POST /sessions/{open}/messages", 200, {"messages": MESSAGES}),
    Write("POST /sessions/{open}/plan", 200, {"plan": "chat_turn_whole"}),
    Write("POST /sessions/{open}/close", 202),
    Write("POST /jobs/{failed}/retry", 202, same="id"),
    Write("POST /memory/summarize", 200, SUMMARIZED, same="memory"),
    Write("POST /memory/create", 201, {"personaId": "{persona}", "summary": "x"}),
    Write("POST /memory/batch", 201, {"memories": [{"personaId": "{persona}", "summary": "x"}]}),
    Write("PATCH /memory/{memory}", 200, {"importance": 1}),
    Write("DELETE /memory/{memory}", 200),
    Write("DELETE /memory", 200, query="?personaId={persona}"),
    Write("POST /memory/{memory}/archive", 200),
    Write("POST /memory/{archived}/restore", 200),
    Write("POST /personas", 201, {"name": "둘 {number}"}),
    Write("POST /personas/import", 201, {"spec": "chara_card_v2", "data": {"name": "셋 {number}"}}),
    Write("PUT /personas/{persona}", 200, {"name": "넷"}),
    Write("DELETE /personas/{persona}", 200),
    Write("PUT /personas/{persona}/memory-config", 200, {"recall": False}),
    Write("PUT /personas/{persona}/state", 200, FACT),
    Write("DELETE /personas/{persona}/state/{fact}", 200),
    Write("POST /decisions", 201, {"statement": "{number}", "strength": "normal", "scope": "global"}),
    Write("PUT /decisions/policy", 200, {"principles": ["{number}"]}),
    Write("POST /decisions/compact", 200, {"messages": [*LONG, {"role": "user", "content": "{number}"}]}),
    Write("POST /decisions/walks", 202, {"rootId": "{decision}"}),
    Write("POST /decisions/{other}/relations", 201, {"type": "REFINES", "target": "{decision}"}),
    Write("DELETE /decisions/{decision}/relations/{relation}", 200),
    Write("POST /evidence", 201, {"title": "x", "content": "{number}"}),
    Write("POST /anchors", 201, ANCHOR),
    Write("PUT /documents", 200, {"namespace": ["{document}"], "key": "k", "value": {}}),
    Write("DELETE /documents", 200, query="?namespace={document}&key={document}"),
    Write(
        "POST /documents/batch",
        200,
        {"operations": [{"op": "put", "namespace": ["{document}"], "key": "k", "value": {}}]},
    ),
    Write("POST /webhooks", 201, {"url": "https://hooks.invalid/{number}"}),
    Write("DELETE /webhooks/{webhook}", 200),
    Write("POST /webhooks/{webhook}/retry", 202),
    Write("PUT /me/profile", 200, {"displayName": "{number}"}),
]
WITHOUT_KEY = {
    "POST /context": "stores nothing",
    "POST /decisions/proposals": "stores nothing",
    "POST /documents/search": "stores nothing",
    "POST /sessions/{}/resume": "stores nothing",
    "DELETE /me": "destroys the key that an answer would be sealed with; repeated, it is 401",
}
"""Routes that refuse an Idempotency-Key, each with the reason."""
ELSEWHERE = {
    "POST /me/import": "takes a stream: tests/requests/test_idempotency.py",
}


@pytest.fixture
def worlds(shared: Server) -> Iterator[tuple[httpx.Client, dict[str, str], dict[str, str]]]:
    """An owner with two of each thing, and the ids of the first ones and of the second ones."""
    owner = f"owner-{uuid4()}"
    with shared.client(owner, "premium") as client:
        first, second = (_create_world(shared, owner, Api(client), str(number)) for number in (1, 2))
        yield client, first, second


def _create_world(server: Server, owner: str, api: Api, number: str) -> dict[str, str]:
    ids = create_one_of_each(api, content=number * 3)
    session = api.post("/sessions", {"personaId": ids["persona"]}, 201)["sessionId"]
    said = [{**each, "id": f"{session}-{place}"} for place, each in enumerate(MESSAGES * 2)]
    api.post(f"/sessions/{session}/messages", {"messages": said, "remember": False})
    archived = api.memory(ids["persona"], "보관")["id"]
    api.call("POST", f"/memory/{archived}/archive")
    now = datetime.now(UTC)
    job = JobDraft(id=uuid4(), kind="walk", subject="s", due_at=now)

    def fail(view: SqlView) -> None:
        view.jobs.add(job, now)
        claimed = view.jobs.claim(job.id, now, now + timedelta(minutes=1))
        assert claimed
        view.jobs.settle(claimed, JobOutcome(status="failed", error="STEP_FAILED"))

    server.run(server.gieok.scope(owner).write(fail))
    more = {"open": session, "turn": f"{session}-2", "archived": archived, "failed": str(job.id)}
    return {**ids, **more, "number": number}


@pytest.mark.parametrize("write", WRITES, ids=[each.route for each in WRITES])
def test_a_repeated_write_gets_the_same_answer(
    worlds: tuple[httpx.Client, dict[str, str], dict[str, str]], write: Write
) -> None:
    """And the same key with other ids is a conflict, so a key cannot answer for another thing."""
    client, first, second = worlds
    client.headers["Idempotency-Key"] = str(uuid4())
    answers = [write.send(client, first) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [write.status] * 2, answers[0].text
    assert _same(write, answers[0]) == _same(write, answers[1])
    other = write.send(client, second)
    assert (other.status_code, other.json()["error"]) == (409, "CONFLICT")
    client.headers["Idempotency-Key"] = str(uuid4())
    assert write.send(client, second).status_code == write.status


def _same(write: Write, answer: httpx.Response) -> Any:
    body = answer.json()
    return body if write.same is None else body.get("job", body)[write.same]


def test_the_last_turn_is_withdrawn_once(
    worlds: tuple[httpx.Client, dict[str, str], dict[str, str]],
) -> None:
    """Without a key, a client that repeats the call would withdraw two turns."""
    client, ids, _ = worlds
    client.headers["Idempotency-Key"] = str(uuid4())
    for _ in range(2):
        assert Call("DELETE /sessions/{open}/turns/last", 200).send(client, ids).json()["success"]
    del client.headers["Idempotency-Key"]
    log = Api(client).get(f"/sessions/{ids['open']}/messages")["messages"]
    assert sum("withdrawnAt" in message and message["withdrawnAt"] is not None for message in log) == 2


def test_every_write_takes_a_key_or_refuses_it(shared: Server) -> None:
    """A new route of the API fails this test until it has a row in WRITES, or a reason to refuse the key."""
    writes: set[str] = set()
    for prefix, route in routes_of(create_app(shared.gieok, GENEROUS)):
        methods = set(route.methods or ()) - {"GET", "HEAD", "OPTIONS"} if prefix == PREFIX else set[str]()
        writes |= {f"{method} {shape(route.path)}" for method in methods}
    tested = {shape(each.route) for each in WRITES}
    assert writes == tested | set(WITHOUT_KEY) | set(ELSEWHERE)


@pytest.mark.parametrize("route", WITHOUT_KEY)
def test_a_key_that_would_be_ignored_is_refused(shared: Server, route: str) -> None:
    with shared.client(f"owner-{uuid4()}") as client:
        client.headers["Idempotency-Key"] = "k"
        answer = Call(route.replace("{}", "s"), 422, {}).send(client, {})
        assert (answer.status_code, answer.json()["at"]) == (422, "Idempotency-Key")
