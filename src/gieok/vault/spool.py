"""Encrypted temporary file for data that is too large to hold in memory.

The key is random and never leaves the memory of the process, and the file has no name: what a crash leaves on
the disk cannot be read by anyone.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from struct import Struct
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gieok.errors import StoreUnavailable
from gieok.vault.sealing import KEY_BYTES, Secret

_NONCE = Struct(">4xQ")


class Spool(Secret):
    """Append-only list of encrypted chunks in a temporary file. Use it as a context manager.

    One thread may append while another reads.
    """

    __slots__ = ("_cipher", "_file", "_lock", "_offsets")

    def __init__(self) -> None:
        self._cipher = AESGCM(os.urandom(KEY_BYTES))
        self._offsets = [0]
        """Where each chunk begins, and where the next one will."""
        self._lock = threading.Lock()
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this object
        except OSError as error:
            raise _no_space(error) from None

    def append(self, chunk: bytes) -> int:
        """Append a chunk. Returns its number. StoreUnavailable if the temporary folder cannot be written."""
        number = len(self._offsets) - 1
        sealed = self._cipher.encrypt(_NONCE.pack(number), chunk, None)
        try:
            with self._lock:
                self._file.seek(self._offsets[-1])
                self._file.write(sealed)
        except OSError as error:
            raise _no_space(error) from None
        self._offsets.append(self._offsets[-1] + len(sealed))
        return number

    def read(self, number: int) -> bytes:
        """The chunk with this number, counted from 0."""
        start, end = self._offsets[number : number + 2]
        with self._lock:
            self._file.seek(start)
            sealed = self._file.read(end - start)
        return self._cipher.decrypt(_NONCE.pack(number), sealed, None)

    def chunks(self) -> Iterator[bytes]:
        """Every chunk, in the order in which it was appended."""
        return (self.read(number) for number in range(len(self._offsets) - 1))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _no_space(error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f"the folder for temporary files cannot be written ({error.strerror}); free some space there, or set "
        "TMPDIR to another folder"
    )
