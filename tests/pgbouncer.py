"""A real PgBouncer in transaction mode, in front of a PostgreSQL of the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

_SERVERS = Path(__file__).parents[1] / ".servers"
_CONFIG = """
[databases]
* = host={host}
keys = host={host} dbname={name} pool_size=1
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {pool_size}
logfile = {folder}/log
pidfile = {folder}/pid
"""


def find_pgbouncer() -> str | None:
    """The program on PATH or in .servers."""
    return shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin:{_SERVERS / 'usr/sbin'}")


class PgBouncer:
    """In front of the server of the database at `url`, with `pool_size` connections for each database.

    `keystore_url` leads to the same database with one connection of its own.
    """

    def __init__(self, url: str, pool_size: int) -> None:
        found = find_pgbouncer()
        if found is None:
            pytest.skip("there is no pgbouncer on PATH; `make servers` unpacks one")
        self._program = found
        self._folder = Path(tempfile.mkdtemp(prefix="gieok-pgbouncer-"))
        parts = conninfo_to_dict(url)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        config = _CONFIG.format(
            name=parts["dbname"], host=parts["host"], port=port, folder=self._folder, pool_size=pool_size
        )
        (self._folder / "config").write_text(config)
        (self._folder / "users").write_text(f'"{parts["user"]}" "{parts["password"]}"\n')
        self._login = f"postgresql://{parts['user']}:{quote(str(parts['password']))}@127.0.0.1:{port}"
        self.url, self.keystore_url = self.through(url), f"{self._login}/keys"
        self._as_user: list[str] = []
        if os.getuid() == 0:  # it refuses to run as root
            user = pwd.getpwuid(Path(str(parts["host"])).stat().st_uid)  # whose socket it is
            self._as_user = ["-u", user.pw_name]
            for path in (self._folder, *self._folder.iterdir()):
                os.chown(path, user.pw_uid, user.pw_gid)
        self.start()

    def through(self, url: str) -> str:
        """The URL of another database of the server through this."""
        return f"{self._login}/{conninfo_to_dict(url)['dbname']}"

    def start(self) -> None:
        """Start it, and wait until it serves the database."""
        libraries = ":".join(str(file.parent) for file in _SERVERS.glob("usr/lib/*/libcares.so.2"))
        self._process = subprocess.Popen(
            [self._program, *self._as_user, str(self._folder / "config")],
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url, connect_timeout=2).close()
            except psycopg.OperationalError:
                is_alive = self._process.poll() is None and time.monotonic() < deadline
                assert is_alive, (self._folder / "log").read_text()
                time.sleep(0.01)
            else:
                return

    def kill(self) -> None:
        """As a crash: its clients lose their connections in the middle of what they do."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self._folder)
