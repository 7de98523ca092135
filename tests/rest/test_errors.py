"""Every error is answered in the error format, without secret content."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import BaseModel, Field

from gieok import Settings
from gieok.errors import (
    Conflict,
    GieokError,
    HeadersTooLarge,
    InputRefused,
    MemoryLimitReached,
    ModelUnavailable,
    NotFound,
    OutcomeUnknown,
    OwnerErased,
    PayloadTooLarge,
    PlanHashMismatch,
    PlanInvalid,
    RateLimited,
    SealBroken,
    SessionEnded,
    StepFailed,
    StepTimedOut,
    StoreDamaged,
    StoreUnavailable,
    SummaryFailed,
    Unauthenticated,
)
from gieok.interfaces.rest.gateway.caller import Reader
from gieok.interfaces.rest.gateway.errors import problem_of
from tests.rest.conftest import GENEROUS, Server, serving
from tests.service.contract import CODES

SECRET = "내 비밀 이야기"

CASES: list[tuple[BaseException, int, str, dict[str, str]]] = [
    (
        InputRefused("wrong", at="messages[2].content"),
        422,
        "VALIDATION_FAILED",
        {"at": "messages[2].content"},
    ),
    (InputRefused("wrong"), 422, "VALIDATION_FAILED", {"at": "request"}),
    (PlanInvalid("wrong", at="steps[1].stage"), 422, "PLAN_INVALID", {"at": "steps[1].stage"}),
    (Unauthenticated(), 401, "UNAUTHENTICATED", {}),
    (OwnerErased("gone"), 401, "UNAUTHENTICATED", {}),
    (NotFound("no such memory"), 404, "NOT_FOUND", {}),
    (Conflict("changed"), 409, "CONFLICT", {}),
    (MemoryLimitReached("full"), 409, "MEMORY_LIMIT_REACHED", {}),
    (SessionEnded("ended"), 409, "SESSION_ENDED", {}),
    (PlanHashMismatch("aa", "bb"), 409, "PLAN_HASH_MISMATCH", {"expected": "aa", "actual": "bb"}),
    (PayloadTooLarge("large"), 413, "PAYLOAD_TOO_LARGE", {}),
    (HeadersTooLarge("large"), 431, "HEADERS_TOO_LARGE", {}),
    (RateLimited("slow down", 3), 429, "RATE_LIMITED", {}),
    (ModelUnavailable("no answer"), 502, "MODEL_UNAVAILABLE", {}),
    (SummaryFailed("no summary"), 502, "LLM_SUMMARY_FAILED", {}),
    (StoreUnavailable("/data/gieok.db is gone"), 503, "STORE_UNAVAILABLE", {}),
    (OutcomeUnknown("the connection to db.internal was lost"), 503, "OUTCOME_UNKNOWN", {}),
    (StepFailed("LLMCall", ModelUnavailable("no answer")), 502, "MODEL_UNAVAILABLE", {}),
    (StepFailed("SummarizeSession", SummaryFailed("no summary")), 502, "LLM_SUMMARY_FAILED", {}),
    (StepFailed("LoadWindow", StoreUnavailable("away")), 503, "STORE_UNAVAILABLE", {}),
    (StepFailed("LoadWindow", OwnerErased("gone")), 401, "UNAUTHENTICATED", {}),
    (StepFailed("PostProcess", ValueError(SECRET)), 500, "STEP_FAILED", {"step": "PostProcess"}),
    (StepFailed("LoadWindow", SealBroken("broken")), 500, "STEP_FAILED", {"step": "LoadWindow"}),
    (StepTimedOut("LLMCall", 120), 500, "STEP_FAILED", {"step": "LLMCall"}),
    (StoreDamaged("/data/gieok.db is damaged"), 500, "STEP_FAILED", {"step": "request"}),
    (ValueError(SECRET), 500, "STEP_FAILED", {"step": "request"}),
]


def every_error(kind: type[GieokError] = GieokError) -> Iterator[type[GieokError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from every_error(each)


ERRORS = sorted(set(every_error()), key=lambda kind: kind.__name__)
PLACES: list[tuple[Any, str]] = [
    ({}, "messages"),
    ({"messages": [{"content": "ok"}, {"content": SECRET}]}, "messages[1].content"),
    ({"messages": [{}]}, "messages[0].content"),
    ({"messages": SECRET}, "messages"),
    ([], "request"),
]


class Inner(BaseModel):
    content: str = Field(max_length=3)


class Body(BaseModel):
    messages: list[Inner]


def add_failing(app: FastAPI) -> None:
    async def fail(caller: Reader, number: int) -> None:
        raise CASES[number][0]

    async def check(caller: Reader, body: Body) -> bool:
        return True

    app.add_api_route("/api/v1/test/fail", fail)
    app.add_api_route("/api/v1/test/check", check, methods=["POST"])


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, GENEROUS, extend=add_failing) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made


@pytest.mark.parametrize("number", range(len(CASES)), ids=[repr(case[0]) for case in CASES])
def test_an_error_of_a_route_is_answered_in_the_error_format(client: httpx.Client, number: int) -> None:
    _, status, code, details = CASES[number]
    answer = client.get("/api/v1/test/fail", params={"number": number})
    body = answer.json()
    assert (answer.status_code, body.pop("success"), body.pop("error")) == (status, False, code)
    assert body.pop("message")
    assert body == details
    assert SECRET not in answer.text
    assert "/data/" not in answer.text


def made(kind: type[GieokError]) -> GieokError:
    """An error of this type, with values for its parameters."""
    values: dict[str, Any] = {
        "message": "wrong",
        "at": "place",
        "expected": "aa",
        "actual": "bb",
        "step": "LLMCall",
        "cause": ValueError(SECRET),
        "seconds": 1.0,
        "retry_after": 1.0,
        "scope": "read",
    }
    names = [name for name in inspect.signature(kind.__init__).parameters if name in values]
    return kind(*(values[name] for name in names))


@pytest.mark.parametrize("kind", ERRORS, ids=[kind.__name__ for kind in ERRORS])
def test_every_error_type_has_a_documented_code(kind: type[GieokError]) -> None:
    """New error types included."""
    problem = problem_of(made(kind))
    assert problem.code in CODES[problem.status]


def test_an_unexpected_error_is_logged_with_its_place_and_without_its_message(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    number = next(number for number, case in enumerate(CASES) if isinstance(case[0], ValueError))
    with caplog.at_level(logging.INFO):
        client.get("/api/v1/test/fail", params={"number": number}, headers={"X-Request-Id": "lost-one"})
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert "lost-one" in line
    assert "ValueError at test_errors.py" in line
    assert SECRET not in caplog.text


def test_a_rate_limited_answer_has_retry_after(client: httpx.Client) -> None:
    number = next(number for number, case in enumerate(CASES) if isinstance(case[0], RateLimited))
    assert client.get("/api/v1/test/fail", params={"number": number}).headers["retry-after"] == "3"


@pytest.mark.parametrize(("body", "at"), PLACES)
def test_an_invalid_body_is_answered_with_its_place_not_its_value(
    client: httpx.Client, body: Any, at: str
) -> None:
    answer = client.post("/api/v1/test/check", json=body)
    assert (answer.status_code, answer.json()["error"]) == (422, "VALIDATION_FAILED")
    assert answer.json()["at"] == at
    assert SECRET not in answer.text


def test_an_invalid_query_is_answered_with_the_place(client: httpx.Client) -> None:
    answer = client.get("/api/v1/test/fail", params={"number": "9" * 5000})
    assert (answer.status_code, answer.json()["at"]) == (422, "number")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"title": "t"}, "content: is required"),
        (
            {"title": "t", "content": "c", "contents": "c"},
            "contents: is not a field of this request",
        ),
        ([], "must be an object"),
        (None, "is required"),
    ],
)
def test_common_mistakes_have_their_own_messages(client: httpx.Client, body: Any, message: str) -> None:
    assert client.post("/api/v1/evidence", json=body).json()["message"].startswith(message)


def test_a_message_has_no_pydantic_prefix(client: httpx.Client) -> None:
    body = {"sessionId": "s", "hint": "h", "targets": [{"kind": "evidence", "id": "x"}]}
    answer = client.post("/api/v1/anchors", json=body).json()
    assert answer["message"].startswith("targets[0].id: must be a UUID such as ")
