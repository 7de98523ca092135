"""The wheel is whole: what a user installs has every file, and works from there."""

from __future__ import annotations

import os
import subprocess
import sys
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

from gieok import __version__

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src"
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
EXTRAS = {
    *("anthropic", "google", "korean", "langgraph", "local", "mcp", "mongodb", "openai", "otel", "postgres"),
    "redis",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL
    )
    (file,) = folder.glob("*.whl")
    return ZipFile(file)


def test_every_file_of_the_package_is_in_it(wheel: ZipFile) -> None:
    """Code, types, plans, prompts, queries and migrations; and nothing else."""
    files = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*") if path.is_file()}
    expected = {name for name in files if "__pycache__" not in name}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected
    assert "gieok/py.typed" in expected
    assert "gieok/interfaces/console/templates/layout.html" in expected


def test_it_says_what_it_is_and_offers_every_extra(wheel: ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    about = message_from_string(wheel.read(name).decode())
    assert (about["Name"], about["Version"], about["License-Expression"]) == (
        "gieok",
        __version__,
        "Apache-2.0",
    )
    assert set(about.get_all("Provides-Extra") or ()) == {*EXTRAS, "dev", "docs"}


def test_it_runs_from_where_it_is_unpacked(wheel: ZipFile, tmp_path: Path) -> None:
    """A turn needs the plans and the queries, a new database the migrations."""
    unpacked, home = tmp_path / "unpacked", tmp_path / "home"
    wheel.extractall(unpacked)
    program = "import gieok, sys; from gieok.interfaces.cli import main; print(gieok.__file__); main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "chat", "--user", "kim", "--lang", "en"],
        env={"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(unpacked)},
        cwd=tmp_path,
        input="I have an interview tomorrow\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(unpacked) in done.stdout
    assert "remembered: " in done.stderr
