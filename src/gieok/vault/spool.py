"""Encrypted temporary file for data that is too large to hold in memory.

The key is random and never leaves the memory of the process, and the file has no name: what a crash leaves on
the disk cannot be read by anyone.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from struct import Struct
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gieok.errors import StoreUnavailable
from gieok.vault.sealing import KEY_BYTES, Secret

_HEAD = Struct(">I")
_NONCE = Struct(">4xQ")


class Spool(Secret):
    """Append-only list of encrypted chunks in a temporary file. Use it as a context manager."""

    __slots__ = ("_cipher", "_count", "_file")

    def __init__(self) -> None:
        self._cipher = AESGCM(os.urandom(KEY_BYTES))
        self._count = 0
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this object
        except OSError as error:
            raise _no_space(error) from None

    def append(self, chunk: bytes) -> None:
        """Append a chunk. StoreUnavailable if the temporary folder cannot be written."""
        sealed = self._cipher.encrypt(_NONCE.pack(self._count), chunk, None)
        self._count += 1
        try:
            self._file.write(_HEAD.pack(len(sealed)) + sealed)
        except OSError as error:
            raise _no_space(error) from None

    def chunks(self) -> Iterator[bytes]:
        """Every chunk, in the order in which it was appended."""
        self._file.seek(0)
        for number in range(self._count):
            (size,) = _HEAD.unpack(self._file.read(_HEAD.size))
            yield self._cipher.decrypt(_NONCE.pack(number), self._file.read(size), None)

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
