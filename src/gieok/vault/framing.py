"""One way to write several values as bytes, so that no two lists of values give the same bytes.

Each value is led by its length. Everything that the vault authenticates or hashes is written so: these
bytes are part of the stored format.
"""

from __future__ import annotations

from struct import Struct

_length = Struct(">I").pack


def framed(*values: str) -> bytes:
    """`values` in UTF-8, each led by its length in four bytes."""
    written = b""
    for value in values:
        raw = value.encode()
        written += _length(len(raw)) + raw
    return written
