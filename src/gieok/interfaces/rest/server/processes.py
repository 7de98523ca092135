"""Several server processes on one socket: a supervisor starts them, replaces those that die, and stops them.

The supervisor and each process share a pipe. The process sends a heartbeat through it; its end tells the
process that the supervisor has died, so that no process outlives it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from time import monotonic

_log = logging.getLogger(__name__)
_spawn = multiprocessing.get_context("spawn")

Run = Callable[[socket.socket, Connection], None]
"""What a process runs: it serves on the socket and sends heartbeats to the connection."""


@dataclass(frozen=True, slots=True)
class SupervisorOptions:
    """Time limits, in seconds."""

    start: float = 60.0
    """Until the first heartbeat of a process."""
    heartbeat: float = 30.0
    """Between two heartbeats. A process that misses one is killed and replaced."""
    stop: float = 40.0
    """From the stop signal until the processes that still run are killed."""
    stable: float = 10.0
    """A process that dies sooner after its start is replaced after a delay."""
    max_delay: float = 30.0


class _Worker:
    """One of the processes, and its replacements."""

    def __init__(self, run: Run, listening: socket.socket) -> None:
        self._run = run
        self._listening = listening
        self._delay = 0.0
        self.start_at = 0.0
        """When to start the process. Meaningful while there is none."""
        self.process: SpawnProcess | None = None
        self.pipe: Connection
        self.last_heartbeat: float | None = None

    def start(self) -> None:
        self.pipe, theirs = _spawn.Pipe()
        self.process = _spawn.Process(target=self._run, args=(self._listening, theirs))
        self.process.start()
        theirs.close()
        self.start_at, self.last_heartbeat = monotonic(), None

    def read_heartbeats(self) -> None:
        with suppress(OSError, EOFError):
            while self.pipe.poll():
                self.pipe.recv_bytes()
                self.last_heartbeat = monotonic()

    def is_hung(self, options: SupervisorOptions) -> bool:
        if self.last_heartbeat is None:
            return monotonic() - self.start_at > options.start
        return monotonic() - self.last_heartbeat > options.heartbeat

    def replace(self, ended: SpawnProcess, options: SupervisorOptions) -> None:
        """Plan the start of the next process: at once, or with increasing delays in a crash loop."""
        is_stable = monotonic() - self.start_at > options.stable
        self._delay = 0.0 if is_stable else min(self._delay * 2 or 0.5, options.max_delay)
        _log.error(
            "server process %d ended with status %s; the next one starts in %g s",
            *(ended.pid, ended.exitcode, self._delay),
        )
        self.start_at = monotonic() + self._delay
        ended.close()
        self.process = None
        self.pipe.close()


class Supervisor:
    """Keeps `workers` processes running until SIGINT or SIGTERM. A second signal kills them."""

    def __init__(
        self, run: Run, listening: socket.socket, workers: int, options: SupervisorOptions | None = None
    ) -> None:
        self._options = options or SupervisorOptions()
        self._listening = listening
        self._workers = [_Worker(run, listening) for _ in range(workers)]
        self._signals = 0

    def run(self) -> None:
        """Run until the processes have ended. Returns at most `stop` seconds after the signal."""
        with self._handle_signals() as wake_up:
            while not self._signals:
                for worker in self._workers:
                    self._keep_running(worker)
                wait([wake_up, *self._watched()], timeout=self._seconds_to_next_check())
            self._stop(wake_up)

    def _keep_running(self, worker: _Worker) -> None:
        if worker.process is None:
            if monotonic() >= worker.start_at:
                worker.start()
            return
        worker.read_heartbeats()
        if worker.process.is_alive() and worker.is_hung(self._options):
            _log.error("server process %d does not respond and is killed", worker.process.pid)
            worker.process.kill()
            worker.process.join()
        if not worker.process.is_alive():
            worker.replace(worker.process, self._options)

    def _watched(self) -> list[Connection | int]:
        return [each for w in self._workers if w.process is not None for each in (w.pipe, w.process.sentinel)]

    def _seconds_to_next_check(self) -> float:
        starts = [worker.start_at - monotonic() for worker in self._workers if worker.process is None]
        return max(0.0, min([1.0, *starts]))

    def _stop(self, wake_up: socket.socket) -> None:
        self._listening.close()  # else clients would wait for a process that accepts them
        processes = [worker.process for worker in self._workers if worker.process is not None]
        for process in processes:
            process.terminate()
        deadline = monotonic() + self._options.stop
        signals = self._signals
        while (running := [each for each in processes if each.is_alive()]) and self._signals == signals:
            if monotonic() >= deadline:
                _log.error("%d server processes did not stop in time and are killed", len(running))
                break
            ready = wait([wake_up, *(each.sentinel for each in running)], deadline - monotonic())
            if wake_up in ready:
                wake_up.recv(100)
        for process in running:
            process.kill()
        for process in processes:
            process.join()

    @contextmanager
    def _handle_signals(self) -> Generator[socket.socket]:
        """Count stop signals, and make the yielded socket readable when one arrives."""
        ours, wake_up = socket.socketpair()
        with ours, wake_up:
            ours.setblocking(False)
            previous_fd = signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
            previous = {
                each: signal.signal(each, self._on_signal) for each in (signal.SIGINT, signal.SIGTERM)
            }
            try:
                yield wake_up
            finally:
                signal.set_wakeup_fd(previous_fd)
                for each, handler in previous.items():
                    signal.signal(each, handler)

    def _on_signal(self, *_: object) -> None:
        self._signals += 1


def stop_with_supervisor(pipe: Connection, stop_seconds: float) -> None:
    """Stop this process gracefully when its supervisor dies, and kill it if that takes too long."""

    def watch() -> None:
        with suppress(OSError, EOFError):
            pipe.recv_bytes()  # the supervisor sends nothing
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(stop_seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="supervisor watch", daemon=True).start()
