"""Multipart bodies (RFC 7578) and HTML forms.

FastAPI's own parser writes large files to disk in clear. Gieok stores nothing in clear, so the body is read
into memory, within its limit, and parsed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from gieok.errors import InputRefused

_BOUNDARY = re.compile(rb'boundary=(?:"([^"\r\n]{1,70})"|([0-9A-Za-z\'()+_,./:=?-]{1,70}))\s*(?:;|$)')
_NAME = re.compile(rb'(?:^|;)\s*name="([^"]*)"', re.IGNORECASE)
_MAX_HEADER_BYTES = 4_096
MAX_FIELDS = 1_000
"""Fields of a form, and parts of a body."""


def is_multipart(content_type: bytes) -> bool:
    """Whether the body has parts."""
    return content_type.partition(b";")[0].strip().lower() == b"multipart/form-data"


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a submitted HTML form, and its files by field name."""

    fields: Mapping[str, tuple[str, ...]]
    files: Mapping[str, bytes]

    def get(self, name: str) -> str:
        """The first value of a field without white space around it; empty if the form does not have it."""
        return self.fields.get(name, ("",))[0].strip()

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a field, such as the ticked boxes with that name."""
        return self.fields.get(name, ())


EMPTY_FORM = Form({}, {})


def parse_form(content_type: bytes, body: bytes) -> Form:
    """The form in a body, URL-encoded or multipart. InputRefused for anything else."""
    fields: dict[str, tuple[str, ...]] = {}
    files: dict[str, bytes] = {}
    try:
        if is_multipart(content_type):
            for name, is_file, content in _parts(content_type, body):
                if is_file:
                    files[name.decode("utf-8")] = content
                else:
                    key = name.decode("utf-8")
                    fields[key] = (*fields.get(key, ()), _line_breaks(content.decode("utf-8")))
        elif content_type.partition(b";")[0].strip().lower() == b"application/x-www-form-urlencoded":
            pairs = parse_qsl(
                body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
            )
            for key, value in pairs:
                fields[key] = (*fields.get(key, ()), _line_breaks(value))
        else:
            raise InputRefused("must be that of an HTML form", at="Content-Type")
    except ValueError:  # also a UnicodeDecodeError
        raise InputRefused(f"the form is not valid UTF-8, or has more than {MAX_FIELDS} fields") from None
    return Form(fields, files)


def _line_breaks(value: str) -> str:
    """Browsers send line breaks as CR LF."""
    return value.replace("\r\n", "\n")


def file_part(content_type: bytes, body: bytes) -> bytes:
    """The content of the part named `file`, which must be the only part. InputRefused for anything else."""
    parts = _parts(content_type, body)
    name, _, content = next(parts)
    if next(parts, None) is not None:
        raise InputRefused("must be the only part of the body", at="file")
    if name != b"file":
        raise InputRefused("must be the name of the part with the file", at="file")
    return content


def _parts(content_type: bytes, body: bytes) -> Iterator[tuple[bytes, bool, bytes]]:
    """Name, whether it is a file, and content of each part."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise InputRefused("must name a boundary", at="Content-Type")
    line = b"--" + (found[1] or found[2])
    if not body.startswith(line + b"\r\n"):
        raise InputRefused("the body does not begin with its boundary")
    start = len(line) + 2
    for _ in range(MAX_FIELDS):
        head = body.find(b"\r\n\r\n", start, start + _MAX_HEADER_BYTES)
        if head < 0:
            raise InputRefused("the part has no headers, or too long ones", at="file")
        end = body.find(b"\r\n" + line, head + 2)
        if end < 0:
            raise InputRefused("the body ends before its boundary", at="file")
        yield *_part_name(body[start:head]), body[head + 4 : end]
        start = end + 2 + len(line) + 2
        if body[start - 2 : start] != b"\r\n":
            break
    if body[start - 2 :].rstrip(b"\r\n \t") != b"--":
        raise InputRefused("must be the only part of the body", at="file")


def _part_name(headers: bytes) -> tuple[bytes, bool]:
    """The name of a part (empty if it has none), and whether it is a file."""
    for header in headers.split(b"\r\n"):
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"content-disposition" and value.strip().lower().startswith(b"form-data"):
            found = _NAME.search(value)
            return (found[1] if found else b""), b"filename=" in value.lower()
    return b"", False
