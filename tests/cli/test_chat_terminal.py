"""`gieok chat` in a terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gieok import PersonaDraft
from gieok.testing.model_server import ModelServer, Request, valid_answer
from tests.cli.conftest import Run
from tests.cli.terminal import Terminal
from tests.cli.test_chat import INTERVIEW, memories, personas, said_in


@pytest.fixture
def terminal(home: Path) -> Iterator[Terminal]:
    made = Terminal("chat", "--user", "kim", "--lang", "ko")
    yield made
    made.close()


def test_a_conversation_in_a_terminal(terminal: Terminal, run: Run) -> None:
    """Accept the offered persona, get a reply, run a command, and press Ctrl-D."""
    terminal.until("[Y/n]")
    terminal.type("\n")
    terminal.until("나> ")
    terminal.type(INTERVIEW)
    terminal.until("하루> ")
    terminal.until("나> ")
    terminal.type("/state\n")
    terminal.until("(EVENT) 면접")
    terminal.until("나> ")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert "기억함: " in terminal.seen
    assert len(memories(run)) == 1


def test_ctrl_c_at_the_prompt_closes_the_session(terminal: Terminal, run: Run) -> None:
    terminal.until("[Y/n]")
    terminal.type("\n")
    terminal.until("나> ")
    terminal.type(INTERVIEW)
    terminal.until("하루> ")
    terminal.until("나> ")
    terminal.interrupt()
    assert terminal.end() == 130
    assert len(memories(run)) == 1


def test_declining_the_offer_creates_no_persona(terminal: Terminal, run: Run) -> None:
    terminal.until("[Y/n]")
    terminal.type("n\n")
    assert terminal.end() == 130
    assert personas() == []
    assert memories(run) == []


def test_one_of_several_personas_is_chosen(home: Path) -> None:
    _, second = personas(PersonaDraft(name="미나"), PersonaDraft(name="하나"))
    terminal = Terminal("chat", "--user", "kim", "--lang", "ko", NO_COLOR="1")
    try:
        terminal.until(second)
        terminal.type("2\n")
        terminal.until("나> ")
        terminal.type("안녕\n/quit\n")
        terminal.until("하나> ")
        assert terminal.end() == 0
        assert "\x1b[" not in terminal.seen
    finally:
        terminal.close()


def test_the_conversation_continues_after_a_failed_turn(home: Path, run: Run) -> None:
    """Ctrl-C during a reply, then a failing model: neither turn is stored, and the next one works."""
    (hana,) = personas(PersonaDraft(name="하나", language="ko"))
    asked = threading.Event()

    def answer(request: Request) -> str:
        if request.task == "reply" and not asked.is_set():
            asked.set()
            server.released.wait()
        return valid_answer(request)

    with ModelServer(answer) as server:
        terminal = Terminal(
            "chat", "--user", "kim", "--lang", "ko", "--persona", hana,
            GIEOK_MODEL="openai:test", GIEOK_MODEL_BASE_URL=server.url("openai"),
        )  # fmt: skip
        try:
            terminal.until("나> ")
            terminal.type("이 말은 남지 않는다\n")
            assert asked.wait(60)
            terminal.interrupt()
            terminal.until("취소했습니다")
            server.fail("unauthorized")
            terminal.until("나> ")
            terminal.type("이 말도 남지 않는다\n")
            terminal.until("(HTTP 401)")
            terminal.until("나> ")
            terminal.type(INTERVIEW)
            terminal.until("응원할게")
            terminal.until("나> ")
            terminal.type("\x04")
            assert terminal.end() == 0
        finally:
            terminal.close()
    (memory,) = memories(run)
    assert said_in(memory["sessionId"])[0] == INTERVIEW.strip()
