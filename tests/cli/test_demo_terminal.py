"""How `gieok demo` behaves on somebody's machine: a real process, an empty home, nothing set up."""

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
from tests.cli.stranger import GIEOK, Stranger

ESCAPE = "\x1b["
english = Translator("en")


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path)


def test_touches_nothing_of_a_real_memory_and_leaves_nothing_behind(stranger: Stranger) -> None:
    """Neither the settings nor the folders of the machine are used, and the demo's own folder is gone."""
    (stranger.home / "gieok.toml").write_text('database_url = "sqlite:///real.db"\n', encoding="utf-8")
    stranger.demo("--lang", "en", GIEOK_DATABASE_URL="sqlite:///real.db", GIEOK_ROOT_KEY="not a key")
    assert [path.name for path in stranger.home.iterdir()] == ["gieok.toml"]
    assert list(stranger.temporary.iterdir()) == []


def test_ctrl_c_leaves_nothing_behind(stranger: Stranger) -> None:
    """Stopped while the other process is about to be killed: status 130, no folder, no complaint."""
    with stranger.start("demo", "--lang", "en") as process:
        output = cast(IO[bytes], process.stdout)
        while english("demo.decide").encode() not in output.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert complaint.strip() == b""
    assert [*stranger.home.iterdir(), *stranger.temporary.iterdir()] == []


def test_ctrl_c_while_the_other_process_starts_kills_it_too(
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


def test_the_process_to_be_killed_ends_by_itself_without_us(tmp_path: Path) -> None:
    """Should the demo itself be killed, the turn is given up and no process is left waiting."""
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


def test_colours_only_where_they_are_wanted(stranger: Stranger) -> None:
    """A terminal gets colours, unless NO_COLOR or --no-color asks for none. The words are the same."""
    coloured = stranger.demo_on_terminal("--lang", "en")
    assert ESCAPE in coloured
    assert english("demo.kill") in re.sub(r"\x1b\[\d*m", "", coloured)
    assert ESCAPE not in stranger.demo_on_terminal("--lang", "en", NO_COLOR="1")
    assert ESCAPE not in stranger.demo_on_terminal("--lang", "en", "--no-color")


def test_a_terminal_without_korean_is_told_how_to_get_it(stranger: Stranger) -> None:
    """Plain ASCII with the remedy, never a traceback or a broken character."""
    output = stranger.demo(PYTHONIOENCODING="latin-1")
    assert output.isascii()
    assert "PYTHONIOENCODING=utf-8" in output
    assert english("demo.talk") in output
    assert "|- DEPENDS_ON ^" in output
    assert not re.search(r"\? \?|\?\?|^\W*\?", output, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("locale", "told"), [("", True), ("C.UTF-8", True), ("ko_KR.UTF-8", False), ("en_US", False)]
)
def test_who_named_no_language_is_told_of_the_other(stranger: Stranger, locale: str, told: bool) -> None:
    output = stranger.demo(LANG=locale)
    assert output.startswith("In English: gieok demo --lang en\n") == told


def test_tells_how_to_call_it_again(stranger: Stranger) -> None:
    """Who has called it by a path can copy what it says; who has it on the path is not told of one."""
    called = Path(sys.executable).with_name("gieok")
    done = stranger.run((str(called), "demo", "--lang", "en"), PATH="/nowhere")
    assert f"{called} chat" in done.stdout.decode()
    assert "   gieok chat " in stranger.demo("--lang", "en", PATH=str(called.parent))


def test_a_folder_with_something_in_it_is_not_used(stranger: Stranger) -> None:
    """--keep never mixes its files with others: wrong usage, and nothing is changed."""
    taken = stranger.home / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine", encoding="utf-8")
    done = stranger.run((*GIEOK, "demo", "--keep", "taken"))
    assert done.returncode == 2
    assert b"taken is not empty" in done.stderr
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of one process is read from /proc"
)
def test_fits_into_a_small_machine(stranger: Stranger) -> None:
    """At its peak the demo takes less than 64 MB for itself, beside the files that it maps.

    Those are libraries and the Korean dictionary, which every process shares and the system takes back when
    it needs the room. How much of a file counts as resident is the system's choice: of the dictionary
    anything from 10 MB to all of it.
    """
    program = "import atexit; atexit.register(lambda: print(open('/proc/self/status').read())); " + GIEOK[2]
    done = stranger.run((sys.executable, "-c", program, "demo"))
    status = dict(re.findall(r"(\w+):\s+(\d+) kB", done.stdout.decode()))
    assert int(status["VmHWM"]) - int(status["RssFile"]) < 64 * 1024


def test_every_signal_of_a_recall_has_plain_words() -> None:
    """What a plan can weigh, the demo can explain."""
    weights = {
        name
        for step in load_plan("chat_turn").steps
        if step.type == "RecallMemories"
        for name in cast("dict[str, float]", step.metadata["weights"])
    }
    named = {key.removeprefix("demo.signal.") for key in TEXTS if key.startswith("demo.signal.")}
    assert weights == named


def test_korean_is_two_columns_wide() -> None:
    """Columns line up although a Korean syllable takes two places and a combining mark none."""
    assert [width("면접"), width("cat"), width("e\u0301")] == [4, 3, 1]
    assert width(pad("면접", 10)) == width(pad("cat", 10)) == 10
    assert list(wrap("면접 면접 cat", 9)) == ["면접 면접", "cat"]
    assert list(wrap("0123456789 a", 4)) == ["0123456789", "a"]


def test_parts_stay_whole_where_a_line_is_broken() -> None:
    """What does not fit goes under the first part of the line above."""
    lines = list(joined(["면접 1234567890"] * 6, "a  "))
    assert [line.count("면접 1234567890") for line in lines] == [4, 2]
    assert all(width(line) <= 90 for line in lines)
    assert lines[0].index("면접") == lines[1].index("면접")
