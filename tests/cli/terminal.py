"""The program in a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from codecs import getincrementaldecoder

from tests.cli.conftest import program


class Terminal:
    """Runs the real program in a terminal that a test can read and type into."""

    def __init__(self, *args: str, **environ: str) -> None:
        self._ours, theirs = pty.openpty()
        self._program = subprocess.Popen(
            [program(), *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "dumb", "PYTHONIOENCODING": "utf-8", **environ},
            start_new_session=True,
        )
        os.close(theirs)
        self.seen = ""
        self._at = 0
        self._decoder = getincrementaldecoder("utf-8")("replace")

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C, again after a while without any output: Python loses a signal that arrives between
        the prompt and the moment when it waits for input."""
        self._program.send_signal(signal.SIGINT)
        while not select.select([self._ours], [], [], 5.0)[0]:
            self._program.send_signal(signal.SIGINT)

    def until(self, text: str) -> None:
        """Read until the terminal shows `text`, after the text of the previous call."""
        deadline = time.monotonic() + 30
        while (found := self.seen.find(text, self._at)) < 0:
            assert time.monotonic() < deadline, self.seen
            if select.select([self._ours], [], [], 0.1)[0]:
                self.seen += self._decoder.decode(os.read(self._ours, 4096))
        self._at = found + len(text)

    def end(self) -> int:
        """Wait for the program to exit and return its status."""
        try:
            while data := os.read(self._ours, 4096):
                self.seen += self._decoder.decode(data)
        except OSError:  # what Linux raises for a terminal that no process has open
            pass
        return self._program.wait(30)

    def close(self) -> None:
        self._program.kill()
        self._program.wait()
        os.close(self._ours)
