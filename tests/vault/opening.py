"""Opens one keystore several times, as several processes would."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from gieok.vault import KeyStore


class Opener:
    """Opens the same keystore on each call, and closes all of them at the end."""

    def __init__(self, open_one: Callable[[], KeyStore]) -> None:
        self._open_one = open_one
        self._opened: list[KeyStore] = []

    def open(self) -> KeyStore:
        self._opened.append(self._open_one())
        return self._opened[-1]

    def __enter__(self) -> Opener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for keystore in self._opened:
            keystore.close()
