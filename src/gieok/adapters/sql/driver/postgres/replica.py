"""A read replica: a server that follows the primary by streaming replication, and answers reads for it.

A read never sees less than what was committed before it began, whichever process committed it. The primary is
asked how far its log goes, which costs it little, and the replica must have replayed that much. Where it is
behind for too long, or unreachable, the primary answers, and the replica is left alone for a moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

import psycopg

from gieok.adapters.sql.driver.database import DEFAULT_LIMITS, Limits, ReplicaStatus, Session
from gieok.adapters.sql.driver.postgres.errors import translate_error
from gieok.adapters.sql.driver.postgres.session import PostgresSession, without_password
from gieok.adapters.sql.driver.thread_pool import ThreadPool, WorkItem
from gieok.errors import SettingsInvalid

T = TypeVar("T")

REST_SECONDS = 1.0
"""How long a replica is left alone that was behind or unreachable."""
_POLL_SECONDS = (0.0005, 0.01)
"""The first and the longest pause while waiting for the replica."""
_POSITION = "SELECT pg_current_wal_flush_lsn()::text, (SELECT system_identifier FROM pg_control_system())"
_HAS_REPLAYED = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %(position)s::pg_lsn"
_LAG = """
SELECT pg_is_in_recovery(), pg_wal_lsn_diff(%(position)s::pg_lsn, pg_last_wal_replay_lsn()),
       extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()),
       (SELECT system_identifier FROM pg_control_system())"""


class ReplicaNotReadyError(Exception):
    """The replica cannot answer this read now; the primary can."""


class Replica:
    """Threads with connections to the replica, and one that asks the primary for its position."""

    def __init__(self, url: str, primary_url: str, limits: Limits) -> None:
        self._limits = limits
        self._rests_until = 0.0
        self._primary = PostgresSession(primary_url, limits)
        self._sessions = [PostgresSession(url, limits) for _ in range(limits.connections)]
        self._positions = _pool("position", [self._primary], primary_url, limits)
        self._pool = _pool("replica", self._sessions, url, limits)

    async def read(self, owner: str | None, work: Callable[[Session], T], *, once: bool) -> T:
        """Run `work` on a snapshot that has everything that is committed now.

        ReplicaNotReadyError if the replica cannot; nothing of `work` has run then, unless it may run again
        because it is not to run `once`.
        """
        if time.monotonic() < self._rests_until:
            raise ReplicaNotReadyError
        try:
            position = await self._positions.run(None, _read_position, writes=False)
            run = partial(self._read, owner, work, position, once)
            return await self._pool.run(owner, run, writes=False)
        except ReplicaNotReadyError:
            self._rests_until = time.monotonic() + REST_SECONDS
            raise

    async def close(self) -> None:
        for pool in (self._positions, self._pool):
            await pool.close()
        for session in (self._primary, *self._sessions):
            session.close()

    def _read(
        self, owner: str | None, work: Callable[[Session], T], position: str, once: bool, session: Session
    ) -> T:
        """On a thread of the replica: wait until it has replayed `position`, then run `work`."""
        own = cast(PostgresSession, session)
        try:
            self._wait(own, position)
            own.begin(owner, writes=False)
        except psycopg.Error:
            own.close()
            raise ReplicaNotReadyError from None
        try:
            result = work(own)
            own.commit()
        except psycopg.Error:  # such as a query that stood in the way of the replay for too long
            own.close()
            if once:
                raise
            raise ReplicaNotReadyError from None
        except BaseException:
            own.roll_back()
            raise
        return result

    def _wait(self, session: PostgresSession, position: str) -> None:
        deadline = time.monotonic() + self._limits.replica_seconds
        pause, longest = _POLL_SECONDS
        while session.ask(_HAS_REPLAYED, {"position": position}) != (True,):
            if time.monotonic() > deadline:
                raise ReplicaNotReadyError
            time.sleep(pause)
            pause = min(2 * pause, longest)


def _pool(name: str, sessions: list[PostgresSession], url: str, limits: Limits) -> ThreadPool:
    translate = partial(translate_error, place=without_password(url))
    threads = [partial(_run_batch, session) for session in sessions]
    return ThreadPool(name, threads, translate, batch_size=1, queue_size=limits.waiting_units)


def _run_batch(session: PostgresSession, items: list[WorkItem[object]]) -> None:
    """The work itself begins its transaction, after it has waited."""
    for item in items:
        item.run(session)


def _read_position(session: Session) -> str:
    try:
        return cast(PostgresSession, session).ask(_POSITION, {})[0]
    except psycopg.Error:
        raise ReplicaNotReadyError from None


def find_replica(url: str, primary_url: str, limits: Limits = DEFAULT_LIMITS) -> ReplicaStatus:
    """The status of the replica at `url`. StoreUnavailable if one of both cannot be reached, SettingsInvalid
    if it is no copy of the primary."""
    primary, replica = PostgresSession(primary_url, limits), PostgresSession(url, limits)
    place = without_password(url)
    try:
        position, system = primary.ask(_POSITION, {})
        is_following, lag_bytes, lag_seconds, own_system = replica.ask(_LAG, {"position": position})
    except psycopg.Error as error:
        raise translate_error(error, place) from None
    finally:
        primary.close()
        replica.close()
    if own_system != system:
        raise SettingsInvalid(
            f"{place} is not a replica of the database; correct GIEOK_READ_DATABASE_URL or remove it"
        )
    behind = max(0, int(lag_bytes or 0))
    return ReplicaStatus(place, is_following, behind, float(lag_seconds or 0) if behind else 0.0)
