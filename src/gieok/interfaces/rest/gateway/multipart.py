"""The one file of a multipart body (RFC 7578).

FastAPI's own parser writes large files to disk in clear. Gieok stores nothing in clear, so the body is read
into memory, within its limit, and parsed here.
"""

from __future__ import annotations

import re

from gieok.errors import InputRefused

_BOUNDARY = re.compile(rb'boundary=(?:"([^"\r\n]{1,70})"|([0-9A-Za-z\'()+_,./:=?-]{1,70}))\s*(?:;|$)')
_NAME = re.compile(rb'(?:^|;)\s*name="([^"]*)"', re.IGNORECASE)
_MAX_HEADER_BYTES = 4_096


def is_multipart(content_type: bytes) -> bool:
    """Whether the body has parts."""
    return content_type.partition(b";")[0].strip().lower() == b"multipart/form-data"


def file_part(content_type: bytes, body: bytes) -> bytes:
    """The content of the part named `file`, which must be the only part. InputRefused for anything else."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise InputRefused("must name a boundary", at="Content-Type")
    line = b"--" + (found[1] or found[2])
    if not body.startswith(line + b"\r\n"):
        raise InputRefused("the body does not begin with its boundary")
    start = len(line) + 2
    head = body.find(b"\r\n\r\n", start, start + _MAX_HEADER_BYTES)
    if head < 0:
        raise InputRefused("the part has no headers, or too long ones", at="file")
    end = body.find(b"\r\n" + line, head + 2)
    if end < 0:
        raise InputRefused("the body ends before its boundary", at="file")
    rest = body[end + 2 + len(line) :]
    if rest.rstrip(b"\r\n \t") != b"--":
        raise InputRefused("must be the only part of the body", at="file")
    if _part_name(body[start:head]) != b"file":
        raise InputRefused("must be the name of the part with the file", at="file")
    return body[head + 4 : end]


def _part_name(headers: bytes) -> bytes | None:
    for header in headers.split(b"\r\n"):
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"content-disposition" and value.strip().lower().startswith(b"form-data"):
            found = _NAME.search(value)
            return found[1] if found else None
    return None
