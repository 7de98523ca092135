"""A real read replica: a second PostgreSQL that follows one of the tests by streaming replication."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.postgres import Postgres


class ReplicaServer:
    """Made by pg_basebackup from a running server. Both listen on Unix sockets in their own folders."""

    def __init__(self, primary: Postgres) -> None:
        self._source = str(conninfo_to_dict(primary.admin_url())["host"])
        with psycopg.connect(primary.admin_url()) as connection:
            row = connection.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'").fetchone()
        assert row is not None
        self._programs = Path(row[0])
        self._user = pwd.getpwuid(Path(self._source).stat().st_uid)
        self.folder = Path(tempfile.mkdtemp(prefix="gieok-replica-"))
        os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._run("pg_basebackup", "-h", self._source, "-U", "postgres", "-R", "-c", "fast")
        (self.folder / ".s.PGSQL.5432.lock").unlink()  # of the primary, whose socket is in its data folder
        self.start()

    def url(self, primary_url: str) -> str:
        """The URL of the same database here, for the same role."""
        return primary_url.replace(quote(self._source, safe=""), quote(str(self.folder), safe=""))

    def run(self, statement: str) -> None:
        """As the superuser."""
        with psycopg.connect(f"postgresql://postgres@/postgres?host={self.folder}", autocommit=True) as admin:
            admin.execute(statement.encode())

    def start(self) -> None:
        self._run("pg_ctl", "start", "-w", "-t", "60", "-l", str(self.folder / "log"), "-o", self._options)

    def kill(self) -> None:
        """As a crash."""
        self._run("pg_ctl", "stop", "-m", "immediate", "-w")

    def close(self) -> None:
        if (self.folder / "postmaster.pid").exists():
            self.kill()
        shutil.rmtree(self.folder)

    @property
    def _options(self) -> str:
        return f"-h '' -k {self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, "-D", self.folder, *arguments],
            user=self._user.pw_uid if os.getuid() == 0 else None,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,  # the server would inherit a pipe and keep it open
            stderr=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{program} failed; see {self.folder / 'log'}"
