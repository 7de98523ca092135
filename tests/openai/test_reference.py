"""The OpenAPI document of `/v1`, and answers that have the form it says."""

from __future__ import annotations

import json

import pytest

from gieok.interfaces.openai.reference import ChatCompletion, ModelEntry, ModelList, OpenAIError
from tests.openai.conftest import Chat

pytestmark = pytest.mark.req("INT-1")


def test_the_document_has_every_route_and_the_main_one_has_none(chat: Chat) -> None:
    document = chat.http.get("/v1/openapi.json").json()
    assert {(path, *calls) for path, calls in document["paths"].items()} == {
        ("/v1/models", "get"),
        ("/v1/models/{model}", "get"),
        ("/v1/chat/completions", "post"),
    }
    post = document["paths"]["/v1/chat/completions"]["post"]
    headers = {each["name"].lower() for each in post["parameters"]}
    assert headers == {"idempotency-key", "x-gieok-persona", "x-gieok-session", "x-gieok-memory"}
    assert post["responses"]["404"]["content"]["application/json"]["schema"]["$ref"].endswith("/OpenAIError")
    assert not any(path.startswith("/v1") for path in chat.http.get("/openapi.json").json()["paths"])


def test_answers_and_errors_have_the_documented_form(chat: Chat) -> None:
    ModelList.model_validate(chat.http.get("/v1/models").json())
    ModelEntry.model_validate(chat.http.get(f"/v1/models/gieok/{chat.persona}").json())
    ChatCompletion.model_validate(chat.say("안녕").json())
    missing = chat.http.get("/v1/models/gieok/nobody")
    assert missing.status_code == 404
    OpenAIError.model_validate(missing.json())
    OpenAIError.model_validate(chat.post(n=2).json())


def test_notices_are_shown_once_with_and_without_a_stream(chat: Chat) -> None:
    """In the field `gieok`, which clients of OpenAI ignore."""

    def leave() -> None:
        scope, now = chat.server.gieok.scope("ana"), chat.server.gieok.engine.clock()
        chat.server.run(scope.write(lambda view: view.notices.leave(chat.persona, ["unremembered"], now)))

    leave()
    told = chat.say("안녕").json()
    ChatCompletion.model_validate(told)
    (notice,) = told["gieok"]["notices"]
    assert "gieok" not in chat.say("또 안녕").json()
    leave()
    chat.messages.append({"role": "user", "content": "그래"})
    lines = chat.post(stream=True).text.splitlines()
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert chunks[-1]["gieok"] == {"notices": [notice], "degraded": []}
    assert not any("gieok" in chunk for chunk in chunks[:-1])
