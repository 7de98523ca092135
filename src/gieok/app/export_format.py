"""The export format: NDJSON with a header, one record per line, and a last line with the record count."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, cast, get_args

from pydantic import TypeAdapter, ValidationError

from gieok.adapters.sql.lifecycle.export.records import ExportRecord, Record
from gieok.engine.plan import first_problem, place
from gieok.engine.strict_json import JsonRefused, parse_json
from gieok.errors import InputRefused
from gieok.memory.fields import Timestamp

FORMAT = 1
"""Version of the format. Other versions are refused."""
MAX_LINE_BYTES = 8 * 1024 * 1024
"""Evidence may have a megabyte of content, and JSON may escape every byte of it."""
LINE_DEPTH = 64
"""Levels of nesting in a line."""


class Header(ExportRecord[Literal["gieok"]]):
    """The first line."""

    format: int
    exported_at: Timestamp


class End(ExportRecord[Literal["end"]]):
    """The last line. A stream without it was truncated."""

    records: int


RECORDS: dict[str, type[Record]] = {
    get_args(record.model_fields["kind"].annotation)[0]: record for record in get_args(Record)
}
"""The record class of each kind."""
_ENDS: dict[str, type[Header | End]] = {"gieok": Header, "end": End}
_DOCUMENT = TypeAdapter(dict[str, Any])


def header_line(exported_at: datetime) -> bytes:
    """The first line of an export."""
    return to_line(Header(kind="gieok", format=FORMAT, exported_at=exported_at))


def end_line(records: int) -> bytes:
    """The last line of an export."""
    return to_line(End(kind="end", records=records))


def to_line(record: Record | Header | End) -> bytes:
    """A record as one line."""
    return record.model_dump_json(by_alias=True).encode() + b"\n"


def read_record(line: bytes) -> Record:
    """The record of a line that `LineChecker` has accepted."""
    return RECORDS[_DOCUMENT.validate_json(line)["kind"]].model_validate_json(line)


class LineChecker:
    """Checks an export line by line while its bytes arrive in chunks of any size.

    InputRefused names the line, such as `line 17`. References between records are checked later, by the
    import itself.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._lines = 0
        self._has_ended = False
        self.records = 0
        """Number of records so far."""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Check the next bytes. Yields the record lines that are complete."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if self._check(line):
                yield line + b"\n"
        if len(self._rest) > MAX_LINE_BYTES:
            raise _too_long(self._lines + 1)

    def finish(self) -> Iterator[bytes]:
        """Check the rest at the end of the stream. InputRefused if the stream was truncated."""
        try:
            yield from self.feed(b"\n") if self._rest else ()
        except InputRefused:
            raise self._truncated() from None
        if not self._has_ended:
            raise self._truncated()

    def _truncated(self) -> InputRefused:
        return InputRefused(
            "the stream ends without its last line, so it was truncated; export again",
            at=f"line {self._lines + 1}",
        )

    def _check(self, line: bytes) -> bool:
        """Check a line. True if it is a record."""
        number = self._lines + 1
        if self._has_ended:
            raise InputRefused("is after the last line; nothing may follow that", at=f"line {number}")
        read = _read(line, number)
        if (number == 1) != isinstance(read, Header):
            raise InputRefused(
                f'an export begins with one header, {{"kind": "gieok", "format": {FORMAT}, …}}',
                at=f"line {number}",
            )
        if isinstance(read, Header) and read.format != FORMAT:
            raise InputRefused(
                f"has format {read.format}, but this version of Gieok reads format {FORMAT}; "
                "import it with the version that exported it",
                at=f"line {number}",
            )
        if isinstance(read, End):
            self._check_end(read, number)
        self._lines = number
        is_record = not isinstance(read, Header | End)
        self.records += is_record
        return is_record

    def _check_end(self, end: End, number: int) -> None:
        if end.records != self.records:
            raise InputRefused(
                f"says {end.records} records, but the stream has {self.records}; export again",
                at=f"line {number}",
            )
        self._has_ended = True


def _read(line: bytes, number: int) -> Record | Header | End:
    at = f"line {number}"
    if len(line) > MAX_LINE_BYTES:
        raise _too_long(number)
    try:
        document = parse_json(line, depth=LINE_DEPTH)
    except JsonRefused as refused:
        where = f"{refused.at}: " if refused.at else ""
        raise InputRefused(f"is not one JSON object: {where}{refused}", at=at) from None
    kind = cast("dict[str, Any]", document).get("kind") if isinstance(document, dict) else None
    record = RECORDS.get(kind) or _ENDS.get(kind) if isinstance(kind, str) else None
    if record is None:
        raise InputRefused(f"must have one of the kinds {', '.join([*_ENDS, *RECORDS])}", at=at)
    try:
        return record.model_validate_json(line)
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(f"{place(location)}: {message}" if location else message, at=at) from None
    except InputRefused as refused:
        raise InputRefused(str(refused), at=at) from None


def _too_long(number: int) -> InputRefused:
    return InputRefused(f"has more than {MAX_LINE_BYTES} bytes", at=f"line {number}")
