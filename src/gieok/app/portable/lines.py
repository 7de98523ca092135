"""The stream itself: a header, one record a line, and a last line that says how many there were."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal, cast, get_args

from pydantic import TypeAdapter, ValidationError

from gieok.adapters.sql.lifecycle.portable.records import Kinded, Record
from gieok.engine.plan import first_problem, place
from gieok.engine.strict_json import JsonRefused, parse_json
from gieok.errors import InputRefused
from gieok.memory.fields import Timestamp

FORMAT = 1
"""The form of the stream. A reader refuses one that it does not know."""
MAX_LINE_BYTES = 8 * 1024 * 1024
"""A line of evidence has a megabyte of content, of which JSON may escape every byte."""
LINE_DEPTH = 64
"""Levels of nesting in a line."""


class Header(Kinded[Literal["gieok"]]):
    """The first line."""

    format: int
    exported_at: Timestamp


class End(Kinded[Literal["end"]]):
    """The last line. A stream that has none was cut off."""

    records: int


RECORDS: dict[str, type[Record]] = {
    get_args(record.model_fields["kind"].annotation)[0]: record for record in get_args(Record)
}
"""The record of each kind."""
_ENDS: dict[str, type[Header | End]] = {"gieok": Header, "end": End}
_DOCUMENT = TypeAdapter(dict[str, Any])


def header_line(exported_at: datetime) -> bytes:
    """The first line of a stream."""
    return to_line(Header(kind="gieok", format=FORMAT, exported_at=exported_at))


def end_line(records: int) -> bytes:
    """The last line of a stream."""
    return to_line(End(kind="end", records=records))


def to_line(record: Record | Header | End) -> bytes:
    """A record as its line."""
    return record.model_dump_json(by_alias=True).encode() + b"\n"


def read_record(line: bytes) -> Record:
    """The record of a line that was checked before."""
    return RECORDS[_DOCUMENT.validate_json(line)["kind"]].model_validate_json(line)


class LineChecker:
    """Takes the bytes of a stream as they come, in pieces of any size, and checks each line.

    InputRefused names the line: `line 17`. What it cannot see, such as a reference that leads nowhere, the
    import itself finds.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._lines = 0
        self._has_ended = False
        self.records = 0
        """How many came so far."""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The whole lines that are records, as far as they have come."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if self._check(line):
                yield line + b"\n"
        if len(self._rest) > MAX_LINE_BYTES:
            raise _too_long(self._lines + 1)

    def finish(self) -> Iterator[bytes]:
        """What is left at the end of the stream, which must be whole."""
        try:
            yield from self.feed(b"\n") if self._rest else ()
        except InputRefused:
            raise self._cut_off() from None
        if not self._has_ended:
            raise self._cut_off()

    def _cut_off(self) -> InputRefused:
        return InputRefused(
            "the stream ends here without its last line, so it was cut off; export again",
            at=f"line {self._lines + 1}",
        )

    def _check(self, line: bytes) -> bool:
        """Whether the line is a record."""
        number = self._lines + 1
        if self._has_ended:
            raise InputRefused("stands after the last line; nothing may follow it", at=f"line {number}")
        read = _read(line, number)
        if (number == 1) != isinstance(read, Header):
            raise InputRefused(
                f'a stream has one header, {{"kind": "gieok", "format": {FORMAT}, …}}, and begins with it',
                at=f"line {number}",
            )
        if isinstance(read, Header) and read.format != FORMAT:
            raise InputRefused(
                f"has format {read.format}, and this Gieok reads format {FORMAT}; use the Gieok that made it",
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
                f"says that {end.records} records came before it, and {self.records} did; export again",
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
        raise InputRefused(f"not one JSON object: {where}{refused}", at=at) from None
    kind = cast("dict[str, Any]", document).get("kind") if isinstance(document, dict) else None
    record = RECORDS.get(kind) or _ENDS.get(kind) if isinstance(kind, str) else None
    if record is None:
        raise InputRefused(f"has none of the kinds {', '.join([*_ENDS, *RECORDS])}", at=at)
    try:
        return record.model_validate_json(line)
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(f"{place(location)}: {message}" if location else message, at=at) from None
    except InputRefused as refused:
        raise InputRefused(str(refused), at=at) from None


def _too_long(number: int) -> InputRefused:
    return InputRefused(f"has more than {MAX_LINE_BYTES} bytes", at=f"line {number}")
