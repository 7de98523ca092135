"""The page that adds one part after another runs in order, on real servers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import SHELL, blocks_of
from tests.docs.machine import SERVER, Machine
from tests.mongo import Mongo
from tests.pgbouncer import PgBouncer
from tests.postgres import Postgres
from tests.redis_server import RedisServer
from tests.replica import ReplicaServer

PAGE = "howto/grow.md"


@pytest.fixture
def database(postgres: Postgres) -> Iterator[str]:
    url = postgres.new_database()
    yield url
    postgres.drop(url)


@pytest.fixture
def pgbouncer(database: str) -> Iterator[PgBouncer]:
    started = PgBouncer(database, pool_size=4)
    yield started
    started.close()


@pytest.fixture
def replica(postgres: Postgres, database: str) -> Iterator[ReplicaServer]:
    started = ReplicaServer(postgres)
    yield started
    started.close()


@pytest.mark.timeout(600)
@pytest.mark.xdist_group("docs")
def test_every_step_of_the_page_runs(
    database: str,
    pgbouncer: PgBouncer,
    replica: ReplicaServer,
    redis_server: RedisServer,
    mongo: Mongo,
    tmp_path: Path,
) -> None:
    """The data of the first step is still there after the last one."""
    replacements = {
        SERVER: database,
        "postgresql://gieok@localhost:6432/gieok_keys": pgbouncer.keystore_url,
        "postgresql://gieok@localhost:6432/gieok": pgbouncer.url,
        "postgresql://gieok@replica/gieok": replica.url(database),
        "redis://localhost:6379/0": redis_server.url,
        "mongodb://localhost:27017/gieok?replicaSet=rs0": mongo.new_url(),
        "8377": _free_port(),
        "8399": _free_port(),
    }
    machine = Machine(tmp_path, replacements, exported=tmp_path / "exported")
    blocks = [block for block in blocks_of(PAGE) if block.is_run and block.mark != "file"]
    assert all(block.language in SHELL for block in blocks)
    outputs = list[str]()
    for block in blocks_of(PAGE):
        if block.mark == "file":
            machine.save_file(str(block.argument), block.text.replace("8399", replacements["8399"]))
        elif block in blocks:
            outputs.append(machine.run(block))
    assert "Nabi" in outputs[0]
    assert "Nabi" in outputs[-1], outputs


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])
