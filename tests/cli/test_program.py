"""The program as a whole: exit statuses, output streams, interruptions."""

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
def test_help_exits_with_0(run: Run, args: Sequence[str]) -> None:
    done = run(*args)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "Usage: gieok" in done.stdout


@pytest.mark.parametrize(
    "group", [[], ["db"], ["decision"], ["keys"], ["memory"], ["plan"], ["token"]], ids=" ".join
)
def test_the_short_help_of_commands_is_not_truncated(run: Run, group: Sequence[str]) -> None:
    _, _, commands = run(*group, "--help").stdout.partition("Commands:\n")
    assert commands
    assert "..." not in commands


@pytest.mark.parametrize(
    "args", [["nonsense"], ["plan", "show"], ["plan", "list", "--nonsense"], ["doctor", "--lang", "fr"], []]
)
def test_wrong_usage_exits_with_2(run: Run, args: Sequence[str]) -> None:
    done = run(*args)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Usage: gieok" in done.stderr


def test_a_failure_is_one_line_on_stderr_without_a_traceback(start: Start) -> None:
    done = start("plan", "hash", "no-such-plan")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: there is no plan and no file 'no-such-plan'")
    assert done.stderr.endswith("[NOT_FOUND]\n")
    assert done.stderr.count("\n") == 1


def test_gieok_debug_prints_the_traceback(start: Start) -> None:
    done = start("plan", "hash", "no-such-plan", GIEOK_DEBUG="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("[NOT_FOUND]\n")


def test_an_unexpected_error_shows_its_place_but_not_its_text(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of an unexpected error may contain stored content."""

    def fail() -> None:
        raise ValueError("content of a memory")

    monkeypatch.setattr("gieok.plans.plan_names", fail)
    done = run("plan", "list")
    assert done.exit_code == 1
    assert "ValueError at test_program.py:" in done.stderr
    assert "GIEOK_DEBUG=1" in done.stderr
    assert "content of a memory" not in done.output


def test_help_takes_at_most_four_times_as_long_as_importing_click(home: Path) -> None:
    """The minimum of several alternating runs, so that a busy machine affects both alike."""

    def seconds(command: list[str]) -> float:
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
        return time.perf_counter() - begun

    bare, helped = [sys.executable, "-c", "import click"], [program(), "--help"]
    pairs = [(seconds(helped), seconds(bare)) for _ in range(7)]
    assert min(pair[0] for pair in pairs) < 4 * min(pair[1] for pair in pairs)


def test_the_program_imports_no_heavy_modules() -> None:
    heavy = "{'pydantic', 'apsw', 'psycopg', 'cryptography', 'MeCab', 'asyncio'}"
    code = f"import sys, gieok.interfaces.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


def test_ctrl_c_exits_with_130_without_a_traceback(home: Path) -> None:
    """The exit status that shells expect."""
    pipe = home / "plan.json"
    os.mkfifo(pipe)
    command = [program(), "plan", "hash", str(pipe)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child,
        pipe.open("wb"),  # returns when the program has opened it for reading
    ):
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
    assert (child.returncode, output, errors.strip()) == (130, "", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_prints_no_error(home: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str) -> None:
    """As in `gieok plan list | head -1`, with buffered and unbuffered output."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(
        [program(), "plan", "list"], stdout=writer, stderr=subprocess.PIPE, text=True
    ) as child:
        os.close(writer)
        _, errors = child.communicate(timeout=60)
    assert errors == ""


def test_an_ascii_terminal_gets_ascii_marks_and_english(start: Start) -> None:
    done = start("doctor", "--lang", "ko", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert "  ok  database" in done.stdout
    assert "All checks passed." in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_to_a_full_disk_is_a_one_line_error(home: Path, unbuffered: str) -> None:
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
