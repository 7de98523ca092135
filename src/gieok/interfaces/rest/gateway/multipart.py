"""Multipart bodies (RFC 7578) and HTML forms.

FastAPI's own parser writes large files to disk in clear. Gieok stores nothing in clear, so the body is read
into memory, within its limit, and parsed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl

from gieok.errors import InputRefused

_BOUNDARY = re.compile(rb'boundary=(?:"([^"\r\n]{1,70})"|([0-9A-Za-z\'()+_,./:=?-]{1,70}))\s*(?:;|$)')
_NAME = re.compile(rb'(?:^|;)\s*name="([^"]*)"', re.IGNORECASE)
_FILE_NAME = re.compile(rb';\s*filename="?([^";]*)', re.IGNORECASE)
_MAX_HEADER_BYTES = 4_096
MAX_FIELDS = 1_000
"""Fields of a form, and parts of a body."""


def is_multipart(content_type: bytes) -> bool:
    """Whether the body has parts."""
    return content_type.partition(b";")[0].strip().lower() == b"multipart/form-data"


class Upload(NamedTuple):
    """A file of a form. `name` is its name on the sender's machine, perhaps with a path."""

    field: str
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a submitted HTML form, and its files."""

    fields: Mapping[str, tuple[str, ...]]
    uploads: tuple[Upload, ...] = ()
    """All files, in the order of the form."""

    @property
    def files(self) -> Mapping[str, bytes]:
        """The file of each field that takes one."""
        return {each.field: each.content for each in self.uploads}

    def get(self, name: str) -> str:
        """The first value of a field without white space around it; empty if the form does not have it."""
        return self.fields.get(name, ("",))[0].strip()

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a field, such as the ticked boxes with that name."""
        return self.fields.get(name, ())


EMPTY_FORM = Form({})


def parse_form(content_type: bytes, body: bytes) -> Form:
    """The form in a body, URL-encoded or multipart. InputRefused for anything else."""
    fields: dict[str, tuple[str, ...]] = {}
    uploads: list[Upload] = []
    try:
        if is_multipart(content_type):
            for name, file_name, content in _parts(content_type, body):
                key = name.decode("utf-8")
                if file_name is not None:
                    uploads.append(Upload(key, file_name.decode("utf-8"), content))
                else:
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
    return Form(fields, tuple(uploads))


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


def _parts(content_type: bytes, body: bytes) -> Iterator[tuple[bytes, bytes | None, bytes]]:
    """Name, file name (None if it is not a file) and content of each part."""
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


def _part_name(headers: bytes) -> tuple[bytes, bytes | None]:
    """The name of a part (empty if it has none), and that of its file (None if it is not a file)."""
    for header in headers.split(b"\r\n"):
        name, _, value = header.partition(b":")
        if name.strip().lower() == b"content-disposition" and value.strip().lower().startswith(b"form-data"):
            found = _NAME.search(value)
            file = _FILE_NAME.search(value)
            return (found[1] if found else b""), (file[1] if file else None)
    return b"", None
