"""`gieok demo`, run as a stranger runs it: a real process, an empty home, nothing set up."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from gieok import Gieok, Persona, Settings
from gieok.interfaces.cli.columns import pad, width, wrap
from gieok.interfaces.cli.demo.story import STORIES, Story
from gieok.plans import load_plan

_GIEOK = (sys.executable, "-c", "from gieok.interfaces.cli import main; main()")
_ESCAPE = "\x1b["


@dataclass(frozen=True)
class Stranger:
    """Someone's machine: a home, a place for temporary files, and an environment without our settings."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def environment(self, **more: str) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("GIEOK_", "XDG_"))}
        own.pop("NO_COLOR", None)
        places = {"HOME": str(self.home), "TMPDIR": str(self.temporary), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**own, **places, "PYTHONIOENCODING": "utf-8", **more}

    def run(self, command: Sequence[str], **more: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, cwd=self.home, env=self.environment(**more), capture_output=True, timeout=60, check=False
        )

    def demo(self, *options: str, **more: str) -> str:
        done = self.run((*_GIEOK, "demo", *options), **more)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    def demo_on_terminal(self, *options: str, **more: str) -> str:
        """The same with a terminal as standard output."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            (*_GIEOK, "demo", *options), cwd=self.home, env=self.environment(**more), stdout=theirs
        ) as process:
            os.close(theirs)
            output = b"".join(iter(lambda: _read(ours), b""))
            assert process.wait(timeout=60) == 0
        os.close(ours)
        return output.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux answers so when the other side has closed
        return b""


def _stranger(folder: Path) -> Stranger:
    made = Stranger(folder)
    made.home.mkdir()
    made.temporary.mkdir()
    return made


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return _stranger(tmp_path)


@dataclass(frozen=True)
class Kept:
    """What a demo printed about one story, and the folder that it left."""

    story: Story
    output: str
    folder: Path

    @property
    def lines(self) -> list[str]:
        return self.output.splitlines()

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        """What lies in the database, read past Gieok and leaving no trace beside it."""
        database = (self.folder / "data" / "gieok.db").as_uri() + "?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        with closing(apsw.Connection(database, flags=flags)) as connection:
            return connection.execute(query, values).fetchall()

    def fact(self, pattern: str) -> tuple[str, ...]:
        """What stands in the groups of `pattern`, which occurs exactly once."""
        (found,) = re.finditer(pattern, self.output)
        return found.groups()

    def reply_of_second_day(self) -> str:
        """The line after the prompt."""
        last = max(number for number, line in enumerate(self.lines) if line.startswith("   |"))
        return self.lines[last + 1]


@pytest.fixture(scope="module")
def performances(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kept]:
    folder = tmp_path_factory.mktemp("demo")
    output = _stranger(folder).demo("--keep", str(folder / "kept"))
    korean, title, english = output.partition(f"── {STORIES['en'].wording.title}")
    parts = {"ko": korean, "en": title + english}
    return {
        language: Kept(STORIES[language], parts[language], folder / "kept" / language) for language in parts
    }


@pytest.fixture(params=["ko", "en"])
def kept(request: pytest.FixtureRequest, performances: dict[str, Kept]) -> Kept:
    return performances[request.param]


def test_tells_all_parts_in_both_languages(kept: Kept) -> None:
    """Every heading is there, in order, and every line of the talk."""
    wording = kept.story.wording
    headings = [wording.talk, wording.disk, wording.recall, wording.atomic, wording.plan]
    numbered = [f"{number}  {heading}" for number, heading in enumerate(headings, start=1)]
    assert [line for line in kept.lines if line in numbered] == numbered
    for said in (*kept.story.first_lines, kept.story.second_line, kept.story.lost_line):
        assert said in kept.output


def test_can_be_read_in_a_minute_on_a_usual_terminal(kept: Kept) -> None:
    """Neither longer than a minute's reading nor wider than a terminal; paths are as long as they are."""
    assert len(kept.lines) <= 95
    assert max(width(line) for line in kept.lines if str(kept.folder) not in line) <= 100


@pytest.mark.req("OPS-2")
def test_no_word_of_the_talk_lies_on_disk(kept: Kept) -> None:
    """What the demo claims about its files holds for the files that it left."""
    contents = [path.read_bytes() for path in kept.folder.rglob("*") if path.is_file()]
    assert len(contents) >= 3
    for secret in kept.story.secrets:
        assert any(secret in line for line in kept.story.first_lines)
        assert not any(secret.encode() in content for content in contents)
        (times,) = kept.fact(rf"\n     {secret} +\D*(\d+)")
        assert times == "0"
    (control,) = kept.fact(rf"\n     {kept.story.session_ref} +\D*(\d+)")
    assert int(control) > 0


@pytest.mark.req("OPS-2")
def test_the_row_shown_is_the_row_stored(kept: Kept) -> None:
    """The hex on the screen is the beginning of what the database holds for that memory."""
    identity, *_ = kept.fact(r"\n     id +([0-9a-f-]{36})")
    shown = [kept.fact(rf"\n     {column} +([0-9a-f]+)…")[0] for column in ("summary", "keywords")]
    query = "SELECT hex(summary), hex(keywords) FROM turn_memories WHERE hex(id) = ?"
    (row,) = kept.rows(query, identity.replace("-", "").upper())
    assert all(str(stored).lower().startswith(text) for stored, text in zip(row, shown, strict=True))


async def test_the_kept_folder_is_a_memory_that_opens_with_its_key(kept: Kept, tmp_path: Path) -> None:
    """What was sealed on day 1 is recalled from the kept files, and is what the demo said it kept."""
    copy = shutil.copytree(kept.folder, tmp_path / "copy")
    settings = Settings(
        database_url=f"sqlite:///{copy / 'data' / 'gieok.db'}",
        keystore_url=f"sqlite:///{copy / 'data' / 'gieok.db.keys'}",
        root_key_file=None,
        own_key_file=copy / "key" / "root.key",
        model="offline",
    )
    story = kept.story
    persona = Persona(name=story.character, language=story.language, system_prompt=story.character_prompt)
    async with await Gieok.open(settings) as gieok:
        result = await gieok.user(story.owner).turn(story.session_ref, story.second_line, persona=persona)
    on_first_day = [memory for memory in result.recalled if memory.timestamp.date() == story.first_day.date()]
    assert on_first_day
    assert all(f"→ {memory.summary}" in kept.output for memory in on_first_day)


def test_recall_brings_back_what_the_question_did_not_say(kept: Kept) -> None:
    """The character asks after what only the first day spoke of, and the demo says which word led there."""
    event = {"ko": "면접", "en": "surgery"}[kept.story.language]
    assert event not in kept.story.second_line
    assert event in kept.reply_of_second_day()
    shared = {"ko": "스타트업에서 → 스타트업", "en": "Nabi → nabi"}[kept.story.language]
    assert f"  {shared}" in kept.output


@pytest.mark.req("ENG-6", "ENG-7")
def test_a_lost_turn_leaves_no_row(kept: Kept) -> None:
    """Every table has as many rows after the failure as before, and as many as the files hold in the end."""
    assert kept.fact(r"(StepFailed\D+'summarize'.*ModelUnavailable)")
    counts = re.findall(r"(\w+) (\d+) → (\d+)", next(line for line in kept.lines if "turn_memories " in line))
    assert [table for table, _, _ in counts] == ["turn_memories", "turn_memory_index", "sessions"]
    assert all(before == after != "0" for _, before, after in counts)
    ((stored,),) = kept.rows("SELECT count(*) FROM turn_memories")
    assert counts[0][1] == str(stored) == str(len(kept.story.first_lines) + 1)


@pytest.mark.req("ENG-8", "ENG-9")
def test_another_top_k_is_another_plan_and_is_refused(kept: Kept) -> None:
    """The hash shown is the plan's, and the refusal names it and a different one."""
    expected, actual = kept.fact(r"PlanHashMismatch\D+ ([0-9a-f]{12})\D.* ([0-9a-f]{12})")
    assert expected == load_plan("turn_memory").hash[:12] != actual
    assert f"turn_memory v1, {'해시' if kept.story.language == 'ko' else 'hash'} {expected}" in kept.output


def test_leaves_nothing_behind(stranger: Stranger) -> None:
    """Without --keep neither the home nor the temporary folder has anything new."""
    stranger.demo("--lang", "en")
    assert [*stranger.home.iterdir(), *stranger.temporary.iterdir()] == []


def test_ignores_the_settings_of_a_real_memory(stranger: Stranger) -> None:
    """A demo beside a real installation touches neither its database nor its key."""
    (stranger.home / "gieok.toml").write_text('database_url = "sqlite:///real.db"\n', encoding="utf-8")
    stranger.demo("--lang", "en", GIEOK_DATABASE_URL="sqlite:///real.db", GIEOK_ROOT_KEY="not a key")
    assert [path.name for path in stranger.home.iterdir()] == ["gieok.toml"]


@pytest.mark.parametrize(("lang", "told", "untold"), [("ko", "ko", "en"), ("en", "en", "ko")])
def test_one_language_alone(stranger: Stranger, lang: str, told: str, untold: str) -> None:
    """--lang tells one story and not a word of the other."""
    output = stranger.demo("--lang", lang)
    assert STORIES[told].wording.talk in output
    assert STORIES[untold].wording.talk not in output


def test_colours_only_where_they_are_wanted(stranger: Stranger) -> None:
    """A terminal gets colours; a pipe, NO_COLOR and --no-color get none."""
    assert _ESCAPE in stranger.demo_on_terminal("--lang", "en")
    assert _ESCAPE not in stranger.demo_on_terminal("--lang", "en", NO_COLOR="1")
    assert _ESCAPE not in stranger.demo_on_terminal("--lang", "en", "--no-color")
    assert _ESCAPE not in stranger.demo("--lang", "en")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_korean_is_told_how_to_get_it(stranger: Stranger, encoding: str) -> None:
    """Plain ASCII with the remedy, never a traceback or a broken character."""
    output = stranger.demo(PYTHONIOENCODING=encoding)
    assert output.isascii()
    assert "PYTHONIOENCODING=utf-8" in output
    assert STORIES["en"].wording.talk in output
    assert "?" * 2 not in output


def test_a_folder_with_something_in_it_is_not_used(stranger: Stranger) -> None:
    """--keep never mixes its files with others: wrong usage, and nothing is changed."""
    taken = stranger.home / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("mine", encoding="utf-8")
    done = stranger.run((*_GIEOK, "demo", "--keep", "taken"))
    assert done.returncode == 2
    assert b"taken is not empty" in done.stderr
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_library_snippet_runs_as_shown(
    stranger: Stranger, performances: dict[str, Kept], language: str
) -> None:
    """The lines under "as a library" are a whole program that prints a reply."""
    lines = performances[language].lines
    start = lines.index("     import asyncio, gieok")
    program = "\n".join(line[5:] for line in lines[start : start + 6])
    done = stranger.run((sys.executable, "-c", program))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.strip()


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of one process is read from /proc"
)
def test_fits_into_a_small_machine(stranger: Stranger) -> None:
    """At its peak the whole demo takes less than 120 MB."""
    program = "import atexit; atexit.register(lambda: print(open('/proc/self/status').read())); " + _GIEOK[2]
    done = stranger.run((sys.executable, "-c", program, "demo"))
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", done.stdout.decode())
    assert int(peak) < 120 * 1024


def test_korean_is_two_columns_wide() -> None:
    """Columns line up although a Korean syllable takes two places and a combining mark none."""
    assert [width("면접"), width("cat"), width("e\u0301")] == [4, 3, 1]
    assert width(pad("면접", 10)) == width(pad("cat", 10)) == 10
    assert list(wrap("면접 면접 cat", 9)) == ["면접 면접", "cat"]
    assert list(wrap("0123456789 a", 4)) == ["0123456789", "a"]
