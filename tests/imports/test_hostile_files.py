"""A hostile or broken file is refused with a clear message, within bounded memory."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from base64 import b64encode
from collections.abc import Callable
from io import BytesIO
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from gieok.adapters.imports.cards import read_file
from gieok.adapters.imports.files import MAX_CARD_BYTES, MAX_FILE_BYTES, PNG
from gieok.errors import InputRefused
from tests.imports.files import CARD, charx, json_file, png_chunk, png_with, text_chunk

pytestmark = pytest.mark.req("INT-4")
GOOD = png_with(text_chunk("chara", CARD))
BOMB = zlib.compress(b"A" * (64 * 1024 * 1024))


def zip_of(name: str, content: bytes = b"x", kind: int = ZIP_DEFLATED) -> bytes:
    made = BytesIO()
    with ZipFile(made, "w", kind) as archive:
        archive.writestr("card.json", json_file(CARD))
        archive.writestr(ZipInfo(name), content, compress_type=kind)
    return made.getvalue()


def zip_bomb() -> bytes:
    """A card.json of 64 MiB of spaces in a few kilobytes, whose directory says that it is small."""
    made = BytesIO()
    with ZipFile(made, "w", ZIP_DEFLATED) as archive:
        archive.writestr("card.json", b" " * (64 * 1024 * 1024))
    content = bytearray(made.getvalue())
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 10)
    return bytes(content)


def encrypted() -> bytes:
    content = bytearray(charx(CARD))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    return bytes(content)


def huge_directory() -> bytes:
    content = bytearray(charx(CARD))
    end = content.rindex(b"PK\x05\x06")
    content[end + 12 : end + 16] = struct.pack("<I", 2**31)
    return bytes(content)


def with_script() -> bytes:
    return json_file({"spec": "chara_card_v2", "data": {"name": "x", "description": "<SCRIPT src=//a>"}})


CASES: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "not a PNG"),
    "text": (lambda: b"hello", "not a PNG"),
    "jpeg": (lambda: b"\xff\xd8\xff\xe0" + b"\0" * 100, "not UTF-8"),
    "utf-16": (lambda: json_file(CARD).decode().encode("utf-16"), "not UTF-8"),
    "cp949": (lambda: json_file(CARD).decode().encode("cp949"), "not UTF-8"),
    "a list": (lambda: b"[]", "must be an object"),
    "deep": (lambda: b'{"data":' * 100_000, "JSON|levels"),
    "deep but whole": (lambda: b"[" * 200 + b"]" * 200, "levels"),
    "many values": (lambda: b"[" + b"0," * 600_000 + b"0]", "more than"),
    "duplicate key": (lambda: b'{"data": {}, "data": {}}', "twice"),
    "surrogate": (lambda: b'{"data": {"name": "\\ud800"}}', "surrogate"),
    "too large": (lambda: b" " * (MAX_FILE_BYTES + 1), "more than"),
    "too much json": (lambda: b" " * (MAX_CARD_BYTES + 1), "more than"),
    "png header only": (lambda: PNG, "its end is missing"),
    "png cut": (lambda: GOOD[:-20], "longer than the file|end is missing"),
    "png without a card": (png_with, "without a character card"),
    "png chunk size": (lambda: PNG + b"\xff\xff\xff\xfftEXt" + b"x" * 50, "longer than the file"),
    "png checksum": (lambda: GOOD.replace(b"chara\0", b"ccv3x\0"), "checksum"),
    "png many chunks": (lambda: png_with(png_chunk(b"teSt", b"") * 20_000), "too many chunks"),
    "png not base64": (lambda: png_with(png_chunk(b"tEXt", b"chara\0***")), "Base64"),
    "png ztxt bomb": (lambda: png_with(png_chunk(b"zTXt", b"chara\0\0" + BOMB)), "longer than"),
    "png itxt bomb": (lambda: png_with(png_chunk(b"iTXt", b"chara\0\1\0\0\0" + BOMB)), "longer than"),
    "png ztxt garbage": (lambda: png_with(png_chunk(b"zTXt", b"chara\0\0xx")), "cannot be read"),
    "png itxt cut": (lambda: png_with(png_chunk(b"iTXt", b"chara\0\0")), "no text"),
    "png bad json": (lambda: png_with(png_chunk(b"tEXt", b"chara\0" + b64encode(b"{"))), "not JSON"),
    "zip cut": (lambda: charx(CARD)[:-30], "broken CHARX"),
    "zip bomb": (zip_bomb, "broken CHARX|more than"),
    "zip with a path up": (lambda: zip_of("../../etc/passwd"), "outside"),
    "zip with a root path": (lambda: zip_of("/etc/passwd"), "outside"),
    "zip with a drive": (lambda: zip_of("C:\\x"), "outside"),
    "zip with a backslash": (lambda: zip_of("assets\\..\\..\\x"), "outside"),
    "zip with two cards": (lambda: zip_of("card.json"), "2 files card.json"),
    "zip with bzip2": (lambda: zip_of("x", kind=ZIP_BZIP2), "compression"),
    "zip encrypted": (encrypted, "encrypted"),
    "zip huge directory": (huge_directory, "huge directory"),
    "script": (with_script, "script"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_it_is_refused(name: str) -> None:
    make, problem = CASES[name]
    content = make()
    tracemalloc.start()
    with pytest.raises(InputRefused, match=problem):
        read_file(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 1024 * 1024
