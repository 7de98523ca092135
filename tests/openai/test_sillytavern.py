"""SillyTavern itself, on loopback, with its own character and this service as its `custom` source.

Each request goes to SillyTavern's server as its page sends it; SillyTavern calls the service. `make clients`
installs it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from gieok import Settings
from gieok.testing.clock import Clock
from tests.clients import FOLDER, NODE, version_of
from tests.rest.conftest import GENEROUS, Server, serving

HOME = FOLDER / "node_modules" / "sillytavern"
pytestmark = [
    pytest.mark.req("INT-1"),
    pytest.mark.timeout(400),  # SillyTavern bundles its page when it starts
]
FACT, QUESTION = "I have a cat called Momo.", "What is my cat called?"


class SillyTavern:
    """A running SillyTavern, as its page uses it."""

    def __init__(self, port: int, service: str, token: str) -> None:
        self.page = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        self._service = f"{service}/v1"
        self._token = token

    def sign_in(self) -> None:
        """Load the page's CSRF token, and store the API key of the source `custom`."""
        self.page.headers["X-CSRF-Token"] = self.page.get("/csrf-token").json()["token"]
        self.post("/api/secrets/write", key="api_key_custom", value=self._token)

    def post(self, path: str, **body: Any) -> httpx.Response:
        answer = self.page.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer

    def models(self) -> list[str]:
        """What the page shows in its list of models."""
        answer = self.post("/api/backends/chat-completions/status", **self._source).json()
        return [each["id"] for each in answer["data"]]

    def generate(self, model: str, messages: list[dict[str, str]], **more: Any) -> str:
        """The reply that the page shows."""
        body = {"model": model, "messages": messages, "max_tokens": 300, "temperature": 1, **more}
        answer = self.post("/api/backends/chat-completions/generate", stream=False, **self._source, **body)
        made = answer.json()
        assert "error" not in made, made
        return made["choices"][0]["message"]["content"]

    @property
    def _source(self) -> dict[str, Any]:
        return {"chat_completion_source": "custom", "custom_url": self._service}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(embedded: Settings, clock: Clock) -> Iterator[Server]:
    """The service as it is shipped, with the offline model."""
    with serving(embedded, GENEROUS, clock=clock) as running:
        yield running


@pytest.fixture
def tavern(service: Server, tmp_path: Path) -> Iterator[SillyTavern]:
    version_of("sillytavern")
    port = _free_port()
    options = {
        "configPath": tmp_path / "config.yaml",
        "dataRoot": tmp_path / "data",
        "port": port,
        "listen": "false",
        "browserLaunchEnabled": "false",
    }
    command = [NODE, "server.js", *(f"--{name}={value}" for name, value in options.items())]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=HOME.resolve(), stdout=log, stderr=log, env={**os.environ, "NODE_ENV": "production"}
        )
        running = SillyTavern(port, service.url, service.token())
        try:
            deadline = time.monotonic() + 300
            while True:
                try:
                    running.sign_in()
                    break
                except httpx.TransportError:
                    assert process.poll() is None, (tmp_path / "log").read_text()
                    assert time.monotonic() < deadline
                    time.sleep(0.2)
            yield running
        finally:
            running.page.close()
            process.terminate()
            process.wait(30)


def prompt(card: dict[str, Any], said: list[dict[str, str]]) -> list[dict[str, str]]:
    """A chat as the page sends it: its main prompt, the character, then the messages."""
    main = f"Write {card['name']}'s next reply in a fictional chat between {card['name']} and User."
    return [
        {"role": "system", "content": main},
        {"role": "system", "content": card["description"]},
        {"role": "system", "content": "[Start a new Chat]"},
        {"role": "assistant", "content": card["first_mes"]},
        *said,
    ]


def test_a_new_chat_recalls_the_day_before_and_a_swipe_leaves_one_turn(
    service: Server, tavern: SillyTavern, clock: Clock
) -> None:
    (card,) = (each for each in tavern.post("/api/characters/all").json() if each["name"] == "Seraphina")
    picture = tavern.post("/api/characters/export", format="png", avatar_url=card["avatar"]).content
    with service.client() as http:
        http.post("/api/v1/personas/import", files={"file": ("seraphina.png", picture)}).raise_for_status()
        (model,) = tavern.models()
        persona = model.removeprefix("gieok/")

        day1 = [{"role": "user", "content": FACT}]
        replies = [tavern.generate(model, prompt(card, day1)) for _ in range(3)]  # two of them are swipes
        assert all(replies)
        service.run(service.gieok.user("ana").jobs.catch_up(persona))
        (session,) = http.get("/api/v1/sessions").json()["sessions"]
        assert session["messageCount"] == 2
        state = http.get(f"/api/v1/personas/{persona}/state").json()
        (fact,) = (*state["facts"], *state["ordinary"])
        assert "Momo" in fact["value"]

        clock.advance(days=1)
        day2 = tavern.generate(model, prompt(card, [{"role": "user", "content": QUESTION}]))
        assert "Momo" in day2
        assert len(http.get("/api/v1/sessions").json()["sessions"]) == 2
