"""The supervisor of several server processes, with small processes in the place of servers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from gieok.interfaces.rest.server.processes import Supervisor, SupervisorOptions, stop_with_supervisor

FAST = SupervisorOptions(start=20, heartbeat=1, stop=4, stable=0.5, max_delay=1)
WAIT = 30.0


def well_behaved(listening: socket.socket, supervisor: Connection) -> None:
    """Ends on SIGTERM and when the supervisor dies, sends heartbeats, and writes its id to a file."""
    stop_with_supervisor(supervisor, 1)
    _announce()
    while True:
        supervisor.send_bytes(b"alive")
        time.sleep(0.1)


def silent(listening: socket.socket, supervisor: Connection) -> None:
    """Sends one heartbeat, and no more."""
    supervisor.send_bytes(b"alive")
    _announce()
    time.sleep(600)


def stubborn(listening: socket.socket, supervisor: Connection) -> None:
    """Ignores SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    well_behaved(listening, supervisor)


def crashing(listening: socket.socket, supervisor: Connection) -> None:
    _announce()
    os._exit(3)


def _announce() -> None:
    (Path(os.environ["STARTED"]) / str(os.getpid())).touch()


def main() -> None:
    """Run a supervisor: `python -m tests.rest.test_processes NAME`."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Supervisor(globals()[sys.argv[1]], listening, 2, FAST).run()


class Supervised:
    """A supervisor as a process of its own, and the processes that it has started."""

    def __init__(self, name: str, folder: Path) -> None:
        self._folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, name], env={**os.environ, "STARTED": str(folder)}
        )

    def started(self) -> set[int]:
        return {int(file.name) for file in self._folder.iterdir()}

    def wait_for(self, count: int) -> set[int]:
        """Wait until `count` processes were started in all."""
        wait_until(lambda: len(self.started()) >= count)
        return self.started()

    def stop(self) -> float:
        """Send SIGTERM and wait. The seconds that it took."""
        before = time.monotonic()
        self.process.terminate()
        assert self.process.wait(WAIT) == 0
        return time.monotonic() - before


def wait_until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.fixture
def supervise(tmp_path: Path) -> Iterator[Callable[[str], Supervised]]:
    made: list[Supervised] = []

    def start(name: str) -> Supervised:
        made.append(Supervised(name, tmp_path))
        return made[-1]

    yield start
    for each in made:
        each.process.kill()
        each.process.wait()
        for pid in filter(is_running, each.started()):
            os.kill(pid, signal.SIGKILL)


def test_a_killed_process_is_replaced_and_all_end_with_the_supervisor(
    supervise: Callable[[str], Supervised],
) -> None:
    supervised = supervise("well_behaved")
    first = supervised.wait_for(2)
    os.kill(min(first), signal.SIGKILL)
    assert len(supervised.wait_for(3) - first) == 1
    assert supervised.stop() < FAST.stop
    assert not any(map(is_running, supervised.started()))


def test_no_process_outlives_a_supervisor_that_was_killed(supervise: Callable[[str], Supervised]) -> None:
    supervised = supervise("well_behaved")
    started = supervised.wait_for(2)
    supervised.process.kill()
    wait_until(lambda: not any(map(is_running, started)))


def test_no_process_outlives_the_supervisor_even_if_it_ignores_the_stop_signal(
    supervise: Callable[[str], Supervised],
) -> None:
    supervised = supervise("stubborn")
    started = supervised.wait_for(2)
    supervised.process.kill()
    wait_until(lambda: not any(map(is_running, started)))


def test_a_process_that_sends_no_heartbeat_is_replaced(supervise: Callable[[str], Supervised]) -> None:
    supervised = supervise("silent")
    assert len(supervised.wait_for(4)) >= 4


def test_a_stopped_process_does_not_delay_the_replacement_of_a_dead_one(
    supervise: Callable[[str], Supervised],
) -> None:
    supervised = supervise("well_behaved")
    stopped, killed = supervised.wait_for(2)
    os.kill(stopped, signal.SIGSTOP)
    os.kill(killed, signal.SIGKILL)
    assert supervised.wait_for(4)
    assert not is_running(stopped)


def test_processes_that_do_not_stop_are_killed(supervise: Callable[[str], Supervised]) -> None:
    supervised = supervise("stubborn")
    supervised.wait_for(2)
    assert FAST.stop <= supervised.stop() < 2 * FAST.stop + 5
    assert not any(map(is_running, supervised.started()))


def test_a_second_signal_kills_at_once(supervise: Callable[[str], Supervised]) -> None:
    supervised = supervise("stubborn")
    supervised.wait_for(2)
    supervised.process.terminate()
    time.sleep(0.2)
    assert supervised.stop() < FAST.stop
    assert not any(map(is_running, supervised.started()))


def test_a_process_that_crashes_at_its_start_is_retried_with_a_delay(
    supervise: Callable[[str], Supervised],
) -> None:
    supervised = supervise("crashing")
    supervised.wait_for(6)
    assert supervised.process.poll() is None
    assert supervised.stop() < FAST.stop


if __name__ == "__main__":
    main()
