"""`gieok chat` with pipes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gieok import Gieok, PersonaDraft, Settings
from gieok.interfaces.cli.output import printable_lines
from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.models import CountingModel
from tests.cli.conftest import Run

INTERVIEW = "내일 중요한 면접이 있어서 떨려\n"
HOSTILE = "\x1b[2J\x1b]0;taken\x07안녕\u202e\n다음 줄"


class Speaker(CountingModel):
    """A model that replies with control characters. `interrupts`: Ctrl-C from the second reply on."""

    def __init__(self, *, interrupts: bool = False) -> None:
        self._interrupts = interrupts
        self._replies = 0

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self._replies += 1
        emit(HOSTILE)
        if self._interrupts and self._replies > 1:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        return Reply(text=HOSTILE, input_tokens=1, output_tokens=2)


def speaker(*, interrupts: bool = False) -> Callable[[Settings], Speaker]:
    return lambda _: Speaker(interrupts=interrupts)


def personas(*drafts: PersonaDraft, owner: str = "kim") -> list[str]:
    """The ids of new personas."""

    async def create() -> list[str]:
        async with await Gieok.open() as gieok:
            return [(await gieok.user(owner).personas.create(draft)).id for draft in drafts]

    return asyncio.run(create())


def memories(run: Run) -> list[dict[str, Any]]:
    return json.loads(run("memory", "list", "--user", "kim", "--json").stdout)["memories"]


def said_in(session: str) -> list[str]:
    """Every message of a session."""

    async def log() -> list[str]:
        async with await Gieok.open() as gieok:
            return [each.content for each in await gieok.user("kim").sessions.log(session)]

    return asyncio.run(log())


def test_a_pipe_gets_replies_and_nothing_else(url: str, run: Run) -> None:
    """A persona is created, and the session becomes a memory; both are reported on standard error."""
    done = run("chat", "--user", "kim", "--lang", "ko", stdin=INTERVIEW + "\n영화도 봤어\n")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 2
    assert "하루" in done.stderr
    (memory,) = memories(run)
    assert "면접" in memory["summary"]
    assert memory["summary"] in done.stderr


def test_an_earlier_session_is_recalled_with_its_reasons(run: Run) -> None:
    """In a later run: the memory, the matching word, and the signals."""
    run("chat", "--user", "kim", "--lang", "ko", stdin=INTERVIEW)
    done = run("chat", "--user", "kim", "--lang", "ko", stdin="면접 얘기 기억나?\n/why\n")
    line = next(line for line in done.stdout.splitlines() if "떨린다고" in line and " #" in line)
    assert "면접" in line
    assert "bm25 #" in line


def test_slash_commands_print_their_output(run: Run) -> None:
    done = run(
        "chat",
        "--user",
        "kim",
        "--lang",
        "en",
        stdin=f"/why\n/memories\n{INTERVIEW}/state\n/persona\n/help\n/x\n",
    )
    for expected in (
        "there is no reply yet",
        "no memories",
        "(EVENT) 면접",
        "Haru",
        "/memories",
        "/x",
    ):
        assert expected in done.stdout


def test_state_shows_facts_outside_the_state_block(run: Run) -> None:
    done = run("chat", "--user", "kim", "--lang", "en", stdin="/state\n내 이름은 김민지야\n/state\n")
    assert done.stdout.count("no facts yet") == 1
    assert "- (PERSONAL_INFO) name: 김민지" in done.stdout


def test_new_starts_another_session(run: Run) -> None:
    """The session before becomes a memory at once, and the next one recalls it."""
    done = run(
        "chat", "--user", "kim", "--lang", "ko", stdin=f"{INTERVIEW}/new\n면접 기억나?\n/why\n/quit\n안녕\n"
    )
    assert "bm25 #1" in done.stdout
    assert len(memories(run)) == 2


def test_json_prints_one_object_per_turn(run: Run) -> None:
    """The object is that of the HTTP API. Output of commands is not on standard output."""
    done = run("chat", "--user", "kim", "--lang", "ko", "--json", stdin=f"{INTERVIEW}/state\n영화도 봤어\n")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["success"] is True
    assert first["reply"]
    assert first["sessionId"] == second["sessionId"]
    assert second["state"][0]["key"] == "면접"


def test_a_persona_is_found_by_its_id_or_its_name(run: Run) -> None:
    mina, _, _ = personas(*(PersonaDraft(name=name) for name in ("미 나", "하나", "하나")))
    for name in (mina, "미 나"):
        done = run("chat", "--user", "kim", "--persona", name, stdin="/persona\n")
        assert (done.exit_code, mina in done.stdout) == (0, True)
    for name, code in (("하나", "VALIDATION_FAILED"), ("두나", "NOT_FOUND")):
        done = run("chat", "--user", "kim", "--persona", name, stdin="안녕\n")
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.endswith(f"[{code}]\n")
    done = run("chat", "--user", "kim", stdin="안녕\n")
    assert done.exit_code == 1
    assert mina in done.stderr


def test_a_refused_message_ends_a_script_and_keeps_earlier_turns(run: Run) -> None:
    done = run("chat", "--user", "kim", "--lang", "ko", stdin=INTERVIEW.encode() + b"\xff\n" + b"more\n")
    assert done.exit_code == 1
    assert done.stderr.endswith("[VALIDATION_FAILED]\n")
    assert len(memories(run)) == 1


def test_control_characters_in_a_reply_are_escaped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gieok.app.facade.choose_model", speaker())
    done = run("chat", "--user", "kim", "--lang", "ko", stdin="안녕\n")
    assert done.stdout == "\\x1b[2J\\x1b]0;taken\\x07안녕\\u202e\n다음 줄\n"
    assert printable_lines(HOSTILE) + "\n" == done.stdout


def test_an_interrupted_reply_keeps_earlier_turns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during a reply cancels that turn; the session is closed and summarised."""
    monkeypatch.setattr("gieok.app.facade.choose_model", speaker(interrupts=True))
    done = run("chat", "--user", "kim", "--lang", "ko", stdin=f"{INTERVIEW}이 말은 남지 않는다\n")
    assert done.exit_code == 130
    (memory,) = memories(run)
    assert said_in(memory["sessionId"]) == [INTERVIEW.strip(), HOSTILE]


def test_an_unreadable_database_is_a_one_line_error(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.db"
    broken.write_text("this is no database", encoding="utf-8")
    done = run("chat", "--user", "kim", stdin="안녕\n", GIEOK_DATABASE_URL=f"sqlite:///{broken}")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.req("MIND-12")
def test_a_turn_is_taken_back_and_answered_again(run: Run) -> None:
    done = run(
        "chat",
        "--user",
        "kim",
        "--lang",
        "ko",
        stdin="/undo\n내 이름은 김민지야\n/why\n/undo\n/state\n나 부산에 살아\n/again\n/state\n",
    )
    for expected in ("아직 메시지가 없습니다", "배움(added): name: 김민지", "되돌림: 메시지 2개, 사실 1개"):
        assert expected in done.stdout
    assert done.stdout.count("아직 저장된 사실이 없습니다") == 1
    assert "부산" in done.stdout.rsplit("\n", 3)[-2]


@pytest.mark.req("MIND-11")
def test_a_session_of_small_talk_says_that_nothing_was_kept(run: Run) -> None:
    kept = "no memory was made: there was only small talk"
    talk = run("chat", "--user", "kim", "--lang", "en", stdin="hello\nhaha\n")
    assert kept in talk.stdout + talk.stderr
    assert memories(run) == []
    told = run("chat", "--user", "kim", "--lang", "en", stdin=INTERVIEW)
    assert kept not in told.stdout + told.stderr
    assert len(memories(run)) == 1


def test_a_fact_is_forgotten_and_a_memory_saved(run: Run) -> None:
    done = run(
        "chat",
        "--user",
        "kim",
        "--lang",
        "en",
        stdin="/save\n내 이름은 김민지야\n/forget\n/forget nothing\n/forget 김민지\n/state\n"
        "/save my own words\n/save\n/forget my own\n/memories\n",
    )
    for expected in (
        "there is no message yet",
        "say what to forget",
        "no fact or memory has these words",
        "forgotten: name: 김민지",
        "no facts yet",
        "remembered: my own words",
        "forgotten: my own words",
    ):
        assert expected in done.stdout
    assert "김민지" in done.stdout.split("forgotten: my own words")[1]
