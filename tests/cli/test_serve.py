"""`gieok serve` and `gieok worker` as real processes: how they start, and how they end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from gieok.testing.model_server import ModelServer
from tests.cli.conftest import Run, program

Spawn = Callable[..., "Process"]


class Process:
    """A running `gieok` process and the first line of its output."""

    def __init__(self, *args: str, **environ: str) -> None:
        self.popen = subprocess.Popen(
            [program(), *args],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.popen.stdout is not None
        self.line = self.popen.stdout.readline()

    @property
    def url(self) -> str:
        found = re.search(r"http://\S+?:\d+", self.line)
        assert found, self.line
        return found[0]

    def end(self, sent: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Tell it to end; its exit status, and what it wrote on stderr."""
        self.popen.send_signal(sent)
        _, errors = self.popen.communicate(timeout=60)
        return self.popen.returncode, errors


@pytest.fixture
def spawn(home: Path) -> Iterator[Spawn]:
    """Start a command. Processes that still run after the test are killed."""
    started: list[Process] = []

    def start(*args: str, **environ: str) -> Process:
        started.append(Process(*args, **environ))
        return started[-1]

    yield start
    for each in started:
        each.popen.kill()
        each.popen.communicate()


@pytest.fixture
def token(run: Run) -> str:
    return new_token(run)


def new_token(run: Run, *options: str) -> str:
    found = re.search(r"gk_[\w-]{43}", run("token", "create", "--user", "ana", *options).output)
    assert found
    return found[0]


def half_a_request(process: Process, token: str) -> tuple[socket.socket, bytes]:
    """A connection with an incomplete request, and the rest of the request."""
    body = '{"personaId": "mina", "manualSummary": "면접을 앞두고 있다"}'.encode()
    head = (
        f"POST /api/v1/memory/create HTTP/1.1\r\nHost: gieok\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    place = httpx.URL(process.url)
    connection = socket.create_connection((place.host, place.port or 0), timeout=60)
    connection.sendall(head.encode())
    assert connection.recv(100).startswith(b"HTTP/1.1 100"), "the service did not receive the request"
    return connection, body


def test_it_serves_until_sigterm(url: str, spawn: Spawn, token: str) -> None:
    process = spawn("serve", "--port", "0")
    assert "gieok token create --user" in process.line
    assert httpx.get(process.url + "/readyz", timeout=30).status_code == 200
    headers = {"Authorization": f"Bearer {token}"}
    assert httpx.get(process.url + "/api/v1/memory/list", headers=headers).json()["memories"] == []
    status, errors = process.end(signal.SIGTERM)
    assert status == 0
    assert "Traceback" not in errors


NO_REQUESTS = (
    b"hello\r\n\r\n",
    b"POST /api/v1/memory/create HTTP/1.1\r\nHost: gieok\r\nContent-Length: ten\r\n\r\n",
)


def test_invalid_http_is_answered_with_422_and_json(spawn: Spawn) -> None:
    """The API has no status 400 and no plain-text responses."""
    place = httpx.URL(spawn("serve", "--port", "0").url)
    for sent in NO_REQUESTS:
        with socket.create_connection((place.host, place.port or 0), timeout=60) as connection:
            connection.sendall(sent)
            head, _, body = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 422 "), sent[:40]
        assert b"content-type: application/json" in head
        answer = json.loads(body)
        assert (answer["success"], answer["error"], answer["at"]) == (False, "VALIDATION_FAILED", "request")


def test_a_running_request_is_finished_before_exit(spawn: Spawn, token: str) -> None:
    process = spawn("serve", "--port", "0")
    connection, body = half_a_request(process, token)
    with connection:
        process.popen.send_signal(signal.SIGINT)
        connection.sendall(body)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 201")
    assert process.popen.wait(60) == 0


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_running_stream_is_finished_before_exit(spawn: Spawn, token: str, workers: str) -> None:
    """The signals of Ctrl-C in a terminal, which reach every process of the group."""
    with ModelServer() as model:
        model.fail("paused")
        process = spawn(
            *("serve", "--port", "0", "--workers", workers),
            GIEOK_MODEL="openai:test",
            GIEOK_MODEL_BASE_URL=model.url("openai"),
            GIEOK_MODEL_API_KEY="a-key",
        )
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=process.url + "/api/v1", headers=headers, timeout=60) as client:
            client.post("/personas", json={"id": "mina", "name": "미나"}).raise_for_status()
            body = {"personaId": "mina", "message": "내일 면접이 있어", "stream": True}
            answer = client.send(client.build_request("POST", "/chat/send", json=body), stream=True)
            lines = answer.iter_lines()
            assert next(lines) == "event: token"
            for pid in (process.popen.pid, *children(process.popen.pid)):
                os.kill(pid, signal.SIGINT)
            wait_until_refused(process)
            model.released.set()
            assert "event: done" in list(lines)
    assert process.popen.wait(60) == 0


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until_refused(process: Process) -> None:
    """Wait until the stop signal was handled: then the socket is closed."""
    while True:
        try:
            httpx.get(process.url + "/healthz")
        except httpx.TransportError:
            return


def test_a_second_signal_stops_at_once(spawn: Spawn, token: str) -> None:
    process = spawn("serve", "--port", "0")
    connection, _ = half_a_request(process, token)
    with connection:
        process.popen.send_signal(signal.SIGTERM)
        wait_until_refused(process)
        process.popen.send_signal(signal.SIGTERM)
        assert process.popen.wait(20) == 0


def test_several_processes_share_the_port_and_the_metrics(
    url: str, spawn: Spawn, token: str, run: Run
) -> None:
    process = spawn("serve", "--port", "0", "--workers", "2")
    with httpx.Client(
        base_url=process.url, headers={"Authorization": f"Bearer {token}"}, timeout=60
    ) as client:
        for _ in range(10):
            assert client.get("/api/v1/memory/list", headers={"Connection": "close"}).status_code == 200
        operator = {"Authorization": f"Bearer {new_token(run, '--scope', 'operator')}"}
        metrics = client.get("/metrics", headers=operator).text
    counted = re.search(r'route="/api/v1/memory/list",status="200"} (\S+)', metrics)
    assert counted
    assert float(counted[1]) == 10
    status, errors = process.end(signal.SIGTERM)
    assert status == 0
    assert "Traceback" not in errors


def servers(process: Process) -> set[int]:
    """The server processes of a supervisor, without multiprocessing's resource tracker."""
    return {
        pid
        for pid in children(process.popen.pid)
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    }


def test_a_dead_server_process_is_replaced_and_the_others_answer(spawn: Spawn, token: str) -> None:
    process = spawn("serve", "--port", "0", "--workers", "2")
    assert httpx.get(process.url + "/readyz", timeout=60).status_code == 200
    first = servers(process)
    assert len(first) == 2
    os.kill(min(first), signal.SIGKILL)
    for _ in range(20):
        assert httpx.get(process.url + "/healthz", timeout=10).status_code == 200
    while len(servers(process)) < 2 or min(first) in servers(process):
        time.sleep(0.05)
    assert process.end(signal.SIGTERM)[0] == 0


def test_the_server_processes_end_with_a_killed_supervisor(spawn: Spawn) -> None:
    process = spawn("serve", "--port", "0", "--workers", "2")
    assert httpx.get(process.url + "/readyz", timeout=60).status_code == 200
    started = servers(process)
    process.popen.kill()
    wait_until_refused(process)
    while any(Path(f"/proc/{pid}").exists() for pid in started):
        time.sleep(0.05)


def test_it_listens_on_the_address_of_the_settings(spawn: Spawn) -> None:
    process = spawn("serve", GIEOK_HOST="localhost", GIEOK_PORT="0")
    assert httpx.get(process.url + "/healthz", timeout=30).status_code == 200


def test_a_public_address_is_refused_without_a_token(run: Run) -> None:
    refused = run("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.exit_code == 1
    assert "gieok token create --user NAME" in refused.stderr
    assert refused.stdout == ""


def test_a_public_address_is_allowed_with_a_token(spawn: Spawn, token: str) -> None:
    process = spawn("serve", "--host", "0.0.0.0", "--port", "0")
    assert httpx.get(process.url + "/healthz", timeout=30).status_code == 200


@pytest.mark.parametrize(
    ("host", "message"), [("127.0.0.1", "is in use"), ("no.such.host.invalid", "not an address")]
)
def test_a_port_that_cannot_be_bound_is_a_one_line_error(run: Run, host: str, message: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        if host != "127.0.0.1":
            assert run("token", "create", "--user", "ana").exit_code == 0
        refused = run("serve", "--host", host, "--port", port)
    assert refused.exit_code == 1
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_an_unreachable_database_is_a_one_line_error(run: Run) -> None:
    refused = run("serve", "--port", "0", GIEOK_DATABASE_URL="postgresql://127.0.0.1:1/gieok")
    assert refused.exit_code == 1
    assert "STORE_UNAVAILABLE" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_worker_runs_until_sigterm(spawn: Spawn) -> None:
    process = spawn("worker")
    assert "Ctrl-C" in process.line
    assert process.end(signal.SIGTERM) == (0, "")


def test_the_console_signs_in_by_its_link_and_revokes_its_token_at_the_end(spawn: Spawn, run: Run) -> None:
    process = spawn("console", "--no-browser", "--user", "kim", "--lang", "en")
    link = process.line.split()[-1]
    english = {"Accept-Language": "en"}
    with httpx.Client(timeout=30, follow_redirects=True, headers=english) as browser:
        page = browser.get(link)
        assert page.status_code == 200
        assert "Signed in as kim" in page.text
    status, _ = process.end()
    assert status == 0
    (token,) = json.loads(run("token", "list", "--json").stdout)["tokens"]
    assert (token["label"], token["revokedAt"] is None) == ("gieok console", False)
