"""The clients that people use, against the service: `openai` in Python and JavaScript, and the Vercel AI SDK.

The JavaScript ones are installed by `make clients`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gieok import Settings
from tests.clients import FOLDER, NODE, version_of
from tests.rest.conftest import GENEROUS, Server, serving

STATEMENT, QUESTION = "My cat is called Momo.", "What is my cat called?"
"""What the scripts in JavaScript say too."""
pytestmark = pytest.mark.req("INT-1")


@pytest.fixture(scope="module")
def offline(embedded: Settings) -> Iterator[Server]:
    """The service as it is shipped, with the offline model."""
    with serving(embedded, GENEROUS) as running:
        yield running


@pytest.fixture
def persona(offline: Server, request: pytest.FixtureRequest) -> Iterator[tuple[httpx.Client, str, str]]:
    """A client of a new owner, the owner's token and a persona."""
    token = offline.token(request.node.name)
    with httpx.Client(base_url=offline.url, headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        made = http.post("/api/v1/personas", json={"name": "Hana", "systemPrompt": "You are Hana."}).json()
        yield http, token, made["persona"]["id"]


def spoken(http: httpx.Client, session: str) -> list[str]:
    found = http.get(f"/api/v1/sessions/{session}/messages").json()["messages"]
    return [each["content"] for each in found if "withdrawnAt" not in each]


def test_the_python_client(offline: Server, persona: tuple[httpx.Client, str, str]) -> None:
    openai = pytest.importorskip("openai", reason="needs the package openai")
    http, token, persona_id = persona
    with openai.OpenAI(base_url=f"{offline.url}/v1", api_key=token) as client:
        model = f"gieok/{persona_id}"
        assert [each.id for each in client.models.list()] == [model]
        assert client.models.retrieve(model).owned_by == "gieok"
        messages: list[dict[str, Any]] = [{"role": "user", "content": STATEMENT}]
        raw = client.chat.completions.with_raw_response.create(model=model, messages=messages)
        session, first = raw.headers["x-gieok-session"], raw.parse()
        messages += [
            first.choices[0].message.model_dump(),
            {"role": "user", "content": "What is my cat called?"},
        ]
        former = client.chat.completions.create(model=model, messages=messages)
        with client.chat.completions.create(
            model=model, messages=messages, stream=True, stream_options={"include_usage": True}
        ) as stream:
            chunks = list(stream)
        text = "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)
        assert "Momo" in former.choices[0].message.content
        assert "Momo" in text
        assert chunks[-1].usage is not None
        assert spoken(http, session) == [*(each["content"] for each in messages), text]
        with pytest.raises(openai.NotFoundError) as missing:
            client.chat.completions.create(model="gieok/x", messages=messages)
        assert (missing.value.code, missing.value.type) == ("not_found", "invalid_request_error")
        with pytest.raises(openai.UnprocessableEntityError) as refused:
            client.chat.completions.create(model=model, messages=messages, n=2)
        assert refused.value.param == "n"
        with pytest.raises(openai.AuthenticationError):
            client.with_options(api_key="wrong").models.list()


def run_script(package: str, script: str, *arguments: str) -> dict[str, Any]:
    """The JSON that a script of ours prints, which uses this package. Skips the test without the package."""
    version_of(package)
    command = [NODE, FOLDER / script, *arguments]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=100)
    assert ran.returncode == 0, ran.stderr.decode()
    return json.loads(ran.stdout)


def test_the_javascript_client(offline: Server, persona: tuple[httpx.Client, str, str]) -> None:
    http, token, persona_id = persona
    seen = run_script("openai", "openai_client.mjs", offline.url, token, persona_id)
    assert seen["models"] == [f"gieok/{persona_id}"]
    first, again, text = seen["replies"]
    assert ("Momo" in again, "Momo" in text) == (True, True)
    assert spoken(http, seen["session"]) == [STATEMENT, first, QUESTION, text]
    assert set(seen["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}
    assert seen["errors"] == [
        ["AuthenticationError", 401, "invalid_api_key"],
        ["NotFoundError", 404, "not_found"],
    ]


def test_the_ai_sdk(offline: Server, persona: tuple[httpx.Client, str, str]) -> None:
    http, token, persona_id = persona
    seen = run_script("ai", "ai_sdk.mjs", offline.url, token, persona_id)
    assert len(set(seen["sessions"])) == 1
    first, text = seen["replies"]
    assert "Momo" in text
    assert spoken(http, seen["sessions"][0]) == [
        "My cat is called Momo.",
        first,
        "What is my cat called?",
        text,
    ]
    assert (seen["finish"], seen["memory"]) == (["stop", "stop"], "off")
    assert seen["error"][:2] == ["AI_APICallError", 404]
    assert "no such model" in seen["error"][2]
