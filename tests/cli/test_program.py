"""How the program starts and ends: exit statuses, streams, interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from gieok import __version__
from tests.cli.conftest import Run, Start, program


def test_version_is_printed(start: Start) -> None:
    done = start("--version")
    assert (done.returncode, done.stdout) == (0, f"gieok {__version__}\n")


@pytest.mark.parametrize("args", [["--help"], ["-h"], ["plan", "--help"], ["keys", "rotate", "-h"]])
def test_help_is_fine(run: Run, args: Sequence[str]) -> None:
    done = run(*args)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Usage: gieok" in done.stdout


@pytest.mark.parametrize(
    "group", [[], ["db"], ["decision"], ["keys"], ["memory"], ["plan"], ["token"]], ids=" ".join
)
def test_a_list_of_commands_says_what_each_does_without_being_cut(run: Run, group: Sequence[str]) -> None:
    _, _, commands = run(*group, "--help").stdout.partition("Commands:\n")
    assert commands
    assert "..." not in commands


@pytest.mark.parametrize(
    "args", [["nonsense"], ["plan", "show"], ["plan", "list", "--nonsense"], ["doctor", "--lang", "fr"], []]
)
def test_wrong_usage_is_two_on_stderr(run: Run, args: Sequence[str]) -> None:
    done = run(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Usage: gieok" in done.stderr


def test_a_failure_is_one_line_on_stderr_without_a_traceback(start: Start) -> None:
    done = start("plan", "hash", "no-such-plan")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: there is no plan and no file 'no-such-plan'")
    assert done.stderr.endswith("[NOT_FOUND]\n")
    assert done.stderr.count("\n") == 1


def test_the_traceback_is_there_for_who_asks(start: Start) -> None:
    done = start("plan", "hash", "no-such-plan", GIEOK_DEBUG="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("[NOT_FOUND]\n")


def test_an_unexpected_error_tells_its_place_and_not_its_text(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of a foreign error may hold what someone said."""

    def fail() -> None:
        raise ValueError("content of a memory")

    monkeypatch.setattr("gieok.plans.plan_names", fail)
    done = run("plan", "list")
    assert done.exit_code == 1
    assert "ValueError at test_program.py:" in done.stderr
    assert "GIEOK_DEBUG=1" in done.stderr
    assert "content of a memory" not in done.output


def test_help_costs_little_more_than_starting_click(home: Path) -> None:
    """The best of several turns each, taken in alternation, so that a busy machine slows both alike."""

    def seconds(command: list[str]) -> float:
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
        return time.perf_counter() - begun

    bare, helped = [sys.executable, "-c", "import click"], [program(), "--help"]
    pairs = [(seconds(helped), seconds(bare)) for _ in range(7)]
    assert min(pair[0] for pair in pairs) < 4 * min(pair[1] for pair in pairs)


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'pydantic', 'apsw', 'psycopg', 'cryptography', 'mecab_ko', 'asyncio'}"
    code = f"import sys, gieok.interfaces.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_ctrl_c_is_quiet(home: Path) -> None:
    """130, as shells expect, and no traceback."""
    pipe = home / "plan.json"
    os.mkfifo(pipe)
    command = [program(), "plan", "hash", str(pipe)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child,
        pipe.open("wb"),  # returns once the program has opened it to read
    ):
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
    assert (child.returncode, output, errors.strip()) == (130, "", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_leaves_is_no_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str
) -> None:
    """`gieok plan list | head -1`, whether the lines go out at once or at the end."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(
        [program(), "plan", "list"], stdout=writer, stderr=subprocess.PIPE, text=True
    ) as child:
        os.close(writer)
        _, errors = child.communicate(timeout=60)
    assert errors == ""


def test_a_terminal_without_unicode_gets_plain_signs_and_english(start: Start) -> None:
    done = start("doctor", "--lang", "ko", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "  ok  database" in done.stdout
    assert "All checks passed." in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_to_a_full_disk_is_a_plain_failure(home: Path, unbuffered: str) -> None:
    environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [program(), "db", "status"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environ,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: the output cannot be written (No space left on device)")
    assert done.stderr.count(b"\n") == 1
