"""A file that only this process can read, and only while it lives: for what is too large to hold in memory.

The key is random and never leaves the memory of the process, and the file has no name: after a crash, what
is left on the disk belongs to nobody.
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
from gieok.vault.secret import Secret

_HEAD = Struct(">I")
_NONCE = Struct(">4xQ")


class Spool(Secret):
    """Pieces of bytes, sealed, in the order in which they came. Use it as a context manager."""

    __slots__ = ("_cipher", "_file", "_pieces")

    def __init__(self) -> None:
        self._cipher = AESGCM(os.urandom(32))
        self._pieces = 0
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this object
        except OSError as error:
            raise _no_space(error) from None

    def put(self, piece: bytes) -> None:
        """Add a piece. StoreUnavailable where the disk of temporary files cannot take it."""
        sealed = self._cipher.encrypt(_NONCE.pack(self._pieces), piece, None)
        self._pieces += 1
        try:
            self._file.write(_HEAD.pack(len(sealed)) + sealed)
        except OSError as error:
            raise _no_space(error) from None

    def pieces(self) -> Iterator[bytes]:
        """Every piece, from the first."""
        self._file.seek(0)
        for number in range(self._pieces):
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
