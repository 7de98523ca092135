"""Runs the command line with a temporary home folder: in this process, or as the real program."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gieok import Gieok, Persona
from gieok.interfaces.cli import main
from tests.turns.run_turn import run_turn

Run = Callable[..., Result]
Start = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder without Gieok files or settings."""
    for name in list(os.environ):
        if name.startswith(("GIEOK_", "XDG_", "LC_", "LANG")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    """Run a command in this process. Environment variables are given by name."""

    def run(*args: str, stdin: str | bytes | None = None, **environ: str) -> Result:
        return CliRunner(env=environ).invoke(main, list(args), input=stdin)

    return run


@pytest.fixture
def start(home: Path) -> Start:
    """Run the real program and wait for it."""

    def start(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program(), *args],
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    return start


@pytest.fixture
def url(home: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new database of each kind, in the settings."""
    monkeypatch.setenv("GIEOK_DATABASE_URL", database_url)
    return database_url


def program() -> str:
    """The installed `gieok`."""
    return str(Path(sys.executable).with_name("gieok"))


def remember(*owners: str) -> None:
    """Store one memory for each owner, with the settings of the environment."""

    async def turns() -> None:
        persona = Persona(name="미나", language="ko", system_prompt="너는 미나야.")
        async with await Gieok.open() as gieok:
            for owner in owners:
                await run_turn(gieok.user(owner), "s1", "내일 중요한 면접이 있어", persona=persona)

    asyncio.run(turns())


def recalled(owner: str) -> int:
    """Number of memories that a turn of the owner recalls."""

    async def turn() -> int:
        persona = Persona(name="미나", language="ko", system_prompt="너는 미나야.")
        async with await Gieok.open() as gieok:
            result = await run_turn(gieok.user(owner), "s1", "면접에서는 뭐라고 하지?", persona=persona)
            return len(result.recalled)

    return asyncio.run(turn())


def files_in(folder: Path) -> dict[str, bytes]:
    """Path and content of every file in the folder."""
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
