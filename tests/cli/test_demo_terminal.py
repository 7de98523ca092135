"""`gieok demo` as a real process, with an empty home folder and no settings."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, cast

import pytest

from gieok.interfaces.cli.demo.acts import DemoFolder, count_rows, create_persona
from gieok.interfaces.cli.demo.display import joined
from gieok.interfaces.cli.demo.kill import kill_during_turn
from gieok.interfaces.cli.demo.story import STORIES
from gieok.interfaces.cli.output import pad, width, wrap
from gieok.interfaces.cli.texts import TEXTS, Translator
from gieok.plans import load_plan
from tests.cli.clean_machine import GIEOK, CleanMachine

ESCAPE = "\x1b["
english = Translator("en")


@pytest.fixture
def machine(tmp_path: Path) -> CleanMachine:
    return CleanMachine(tmp_path)


def test_the_demo_ignores_settings_and_removes_its_files(machine: CleanMachine) -> None:
    """Neither settings nor folders of the user are used, and the temporary folder is removed."""
    (machine.home / "gieok.toml").write_text('database_url = "sqlite:///real.db"\n', encoding="utf-8")
    machine.demo("--lang", "en", GIEOK_DATABASE_URL="sqlite:///real.db", GIEOK_ROOT_KEY="not a key")
    assert [path.name for path in machine.home.iterdir()] == ["gieok.toml"]
    assert list(machine.temporary.iterdir()) == []


def test_ctrl_c_removes_all_files(machine: CleanMachine) -> None:
    """Ctrl-C while the child process runs: status 130, no folder, no output on standard error."""
    with machine.start("demo", "--lang", "en") as process:
        output = cast(IO[bytes], process.stdout)
        while english("demo.decide").encode() not in output.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.strip() == b""
    assert [*machine.home.iterdir(), *machine.temporary.iterdir()] == []


def test_ctrl_c_while_the_child_process_starts_kills_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        kill_during_turn(STORIES["en"], DemoFolder(tmp_path))
    assert started[0].returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_the_child_process_exits_when_the_demo_is_killed(tmp_path: Path) -> None:
    """If the demo itself is killed, the child rolls back its turn and exits."""
    folder, story = DemoFolder(tmp_path), STORIES["ko"]
    asyncio.run(create_persona(story, folder))
    before = count_rows(folder.database)
    child = (sys.executable, "-m", "gieok.interfaces.cli.demo.kill", str(tmp_path), "ko")
    with subprocess.Popen(
        child, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert cast(IO[bytes], process.stdout).readline()
        process.communicate(timeout=60)
    assert process.returncode == 1
    assert count_rows(folder.database) == before


def test_colours_only_in_a_terminal_and_unless_switched_off(machine: CleanMachine) -> None:
    """A terminal gets colours, unless NO_COLOR or --no-color is given. The text is the same."""
    coloured = machine.demo_on_terminal("--lang", "en")
    assert ESCAPE in coloured
    assert english("demo.kill") in re.sub(r"\x1b\[\d*m", "", coloured)
    assert ESCAPE not in machine.demo_on_terminal("--lang", "en", NO_COLOR="1")
    assert ESCAPE not in machine.demo_on_terminal("--lang", "en", "--no-color")


def test_a_terminal_without_korean_gets_english_and_a_hint(machine: CleanMachine) -> None:
    """ASCII output with a hint, without a traceback or broken characters."""
    output = machine.demo(PYTHONIOENCODING="latin-1")
    assert output.isascii()
    assert "PYTHONIOENCODING=utf-8" in output
    assert english("demo.talk") in output
    assert "|- DEPENDS_ON ^" in output
    assert not re.search(r"\? \?|\?\?|^\W*\?", output, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("locale", "has_hint"),
    [
        ("", True),
        ("C.UTF-8", True),
        ("POSIX", True),
        ("ko_KR.UTF-8", False),
        ("en_US", False),
        ("de_DE", False),
    ],
)
def test_a_locale_without_a_language_gets_a_hint(machine: CleanMachine, locale: str, has_hint: bool) -> None:
    output = machine.demo(LANG=locale)
    assert output.startswith("In English: gieok demo --lang en\n") == has_hint


def test_a_locale_of_another_language_gets_english(machine: CleanMachine) -> None:
    assert english("demo.talk") in machine.demo(LANG="de_DE.UTF-8")


def test_the_next_steps_use_a_command_that_works(machine: CleanMachine) -> None:
    """With the path that was called if `gieok` is not on PATH, else without a path."""
    called = Path(sys.executable).with_name("gieok")
    done = machine.run((str(called), "demo", "--lang", "en"), PATH="/nowhere")
    assert f"{called} chat" in done.stdout.decode()
    assert "   gieok chat " in machine.demo("--lang", "en", PATH=str(called.parent))


def test_keep_refuses_a_folder_that_is_not_empty(machine: CleanMachine) -> None:
    """Exit status 2, and the folder is unchanged."""
    taken = machine.home / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine", encoding="utf-8")
    done = machine.run((*GIEOK, "demo", "--keep", "taken"))
    assert done.returncode == 2
    assert b"taken is not empty" in done.stderr
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak memory from /proc")
def test_memory_use_is_below_80_mb(machine: CleanMachine) -> None:
    """Peak memory without memory-mapped files is below 80 MB.

    Mapped files are the libraries and the Korean dictionary. Processes share them, and the system evicts them
    when memory is low. How much of a mapped file is resident varies: 10 MB of the dictionary, or all of it.

    How much memory malloc keeps for each thread depends on the number of processors: here it is one arena.

    The limit was 64 MB before search used numpy. The demo takes 64 to 72 MB on Python 3.11, of which
    importing numpy takes 6 to 8.
    """
    program = "import atexit; atexit.register(lambda: print(open('/proc/self/status').read())); " + GIEOK[2]
    done = machine.run((sys.executable, "-c", program, "demo"), MALLOC_ARENA_MAX="1")
    status = dict(re.findall(r"(\w+):\s+(\d+) kB", done.stdout.decode()))
    assert int(status["VmHWM"]) - int(status["RssFile"]) < 80 * 1024


def test_every_recall_signal_has_a_text() -> None:
    """The demo has a text for every weight of the plan."""
    weights = {
        name
        for step in load_plan("chat_turn").steps
        if step.type == "RecallMemories"
        for name in cast("dict[str, float]", step.metadata["weights"])
    }
    named = {key.removeprefix("demo.signal.") for key in TEXTS if key.startswith("demo.signal.")}
    assert weights == named


def test_a_korean_syllable_is_two_columns_wide() -> None:
    """And a combining mark takes none, so that columns line up."""
    assert [width("면접"), width("cat"), width("e\u0301")] == [4, 3, 1]
    assert width(pad("면접", 10)) == width(pad("cat", 10)) == 10
    assert list(wrap("면접 면접 cat", 9)) == ["면접 면접", "cat"]
    assert list(wrap("0123456789 a", 4)) == ["0123456789", "a"]


def test_joined_does_not_break_parts() -> None:
    """The next line starts below the first part of the line above."""
    lines = list(joined(["면접 1234567890"] * 6, "a  "))
    assert [line.count("면접 1234567890") for line in lines] == [4, 2]
    assert all(width(line) <= 90 for line in lines)
    assert lines[0].index("면접") == lines[1].index("면접")
