"""`gieok mcp` as a real process: how it starts, what it writes, and how it ends."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, program

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def process(home: Path) -> Any:
    """A running `gieok mcp`, killed after the test."""
    pipe = subprocess.PIPE
    with subprocess.Popen([program(), "mcp"], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as popen:
        yield popen
        popen.kill()


def ask(process: subprocess.Popen[str], line: str) -> dict[str, Any]:
    """Send a line, and read the next line of the output."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_it_ends_with_its_input(process: subprocess.Popen[str]) -> None:
    """Standard output has nothing but messages of the protocol."""
    answer = ask(process, json.dumps(INITIALIZE))
    assert answer["result"]["serverInfo"]["name"] == "gieok"
    assert "recall" in answer["result"]["instructions"]
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, "", "")


def test_a_line_that_is_no_message_does_not_stop_it(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write('비밀이야기 {"jsonrpc"\n')
    assert ask(process, json.dumps(INITIALIZE))["id"] == 1
    _, errors = process.communicate(timeout=60)
    assert "비밀이야기" not in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_it_waits_for_input(
    process: subprocess.Popen[str], number: signal.Signals
) -> None:
    ask(process, json.dumps(INITIALIZE))
    process.send_signal(number)
    assert process.wait(60) == -number


def test_an_unknown_persona_is_an_error(run: Run) -> None:
    ran = run("mcp", "--persona", "nobody")
    assert (ran.exit_code, ran.stdout) == (1, "")
    assert "no such persona [NOT_FOUND]" in ran.stderr


def test_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(_name: str) -> None: ...

    monkeypatch.setattr(importlib.util, "find_spec", find_nothing)
    ran = run("mcp")
    assert ran.exit_code == 1
    assert "pip install 'gieok[mcp]'" in ran.stderr
