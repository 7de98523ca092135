"""The JSON inside a file: plain, in a text chunk of a PNG, or in a CHARX (zip).

Files come from strangers. Nothing is extracted or executed, every size is checked before memory is used, and
a broken or hostile file is an InputRefused that says what is wrong with it.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from gieok.engine.strict_json import JsonRefused, parse_json
from gieok.errors import InputRefused

MAX_FILE_BYTES = 32 * 1024 * 1024
"""The maximum size of a card with its picture and assets."""
MAX_CARD_BYTES = 8 * 1024 * 1024
"""The maximum size of the JSON in it."""
MAX_CHUNKS = 10_000
"""How many chunks a PNG, or files a CHARX, may have."""
JSON_DEPTH = 32
JSON_ITEMS = 500_000

PNG = b"\x89PNG\r\n\x1a\n"
ZIP = b"PK\x03\x04"
_ZIP_END = b"PK\x05\x06"
_ZIP64_LOCATOR = b"PK\x06\x07"
_ZIP_DIRECTORY_BYTES = 4 * 1024 * 1024
_TEXT_CHUNKS = (b"tEXt", b"zTXt", b"iTXt")
_KEYWORDS = ("ccv3", "chara")
"""Text chunks with a card, the better one first."""


class Opened(NamedTuple):
    """The JSON of a file, and the parts of the file that are not in it."""

    value: Any
    left_out: tuple[str, ...]


def open_card_file(content: bytes) -> Opened:
    """Find and parse the JSON of a card or a lorebook. InputRefused if the file has none or is broken."""
    if len(content) > MAX_FILE_BYTES:
        raise InputRefused(f"has more than {MAX_FILE_BYTES} bytes", at="file")
    if content.startswith(PNG):
        return Opened(_decoded(_png_text(content)), ("image",))
    if content.startswith(ZIP):
        card, has_assets = _charx(content)
        return Opened(read_json(card), ("assets",) if has_assets else ())
    return Opened(read_json(content, expected="a PNG, a CHARX or JSON in UTF-8"), ())


def read_json(
    content: bytes,
    *,
    max_bytes: int = MAX_CARD_BYTES,
    items: int = JSON_ITEMS,
    expected: str = "JSON in UTF-8",
) -> Any:
    """Parse JSON strictly, with or without a byte order mark. InputRefused says what is wrong and where."""
    if len(content) > max_bytes:
        raise InputRefused(f"contains JSON of more than {max_bytes} bytes", at="file")
    try:
        return parse_json(content.removeprefix(b"\xef\xbb\xbf"), depth=JSON_DEPTH, items=items)
    except JsonRefused as refused:
        place = f" at {refused.at}" if refused.at else ""
        raise InputRefused(f"is not {expected}: {refused}{place}", at="file") from None


def _decoded(text: bytes) -> Any:
    """The JSON of a text chunk, which is in Base64 or, from some programs, plain."""
    if text.lstrip().startswith(b"{"):
        return read_json(text)
    try:
        return read_json(b64decode(b"".join(text.split()), validate=True))
    except Base64Error:
        raise _broken("its card is not in Base64") from None


def _png_text(content: bytes) -> bytes:
    """The text of the chunk with the card. Its checksum must be right."""
    found: dict[str, bytes] = {}
    for kind, data in _chunks(content):
        if kind in _TEXT_CHUNKS:
            keyword, _, rest = data.partition(b"\0")
            name = keyword.decode("latin-1").lower()
            if name in _KEYWORDS and name not in found:
                found[name] = _chunk_text(kind, rest)
    for name in _KEYWORDS:
        if name in found:
            return found[name]
    raise InputRefused("is a PNG without a character card (no chunk 'chara' or 'ccv3')", at="file")


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG up to its end; pictures are skipped without a copy."""
    position, count = len(PNG), 0
    while position + 12 <= len(content) and count < MAX_CHUNKS:
        size, kind = struct.unpack_from(">I4s", content, position)
        end = position + 8 + size
        if end + 4 > len(content):
            raise _broken("a chunk is longer than the file")
        if kind in _TEXT_CHUNKS:
            data = content[position + 8 : end]
            if zlib.crc32(kind + data) != struct.unpack_from(">I", content, end)[0]:
                raise _broken("the checksum of a text chunk is wrong")
            yield kind, data
        if kind == b"IEND":
            return
        position, count = end + 4, count + 1
    raise _broken("it has too many chunks" if count >= MAX_CHUNKS else "its end is missing")


def _chunk_text(kind: bytes, rest: bytes) -> bytes:
    """The text of a chunk after its keyword; decompressed within the size of a card."""
    if kind == b"tEXt":
        return rest
    if kind == b"zTXt":
        return _inflated(rest[1:])
    parts = rest[2:].split(b"\0", 2)  # language, translated keyword, text; before them two bytes of flags
    if len(parts) != 3:
        raise _broken("a text chunk has no text")
    return _inflated(parts[2]) if rest[:1] == b"\1" else parts[2]


def _inflated(data: bytes) -> bytes:
    limit = 2 * MAX_CARD_BYTES  # Base64 is longer than what it stands for
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(data, limit)
    except zlib.error:
        raise _broken("a compressed text chunk cannot be read") from None
    if reader.unconsumed_tail or not reader.eof:
        raise _broken(f"a compressed text chunk is incomplete or longer than {limit} bytes")
    return text


def _broken(problem: str) -> InputRefused:
    return InputRefused(f"is a broken PNG: {problem}; save it again where it was made", at="file")


def _charx(content: bytes) -> tuple[bytes, bool]:
    """`card.json` of a CHARX, and whether other files are in it. Nothing is extracted."""
    _check_directory(content)
    try:
        with ZipFile(BytesIO(content)) as archive:
            files = [each for each in archive.infolist() if not each.is_dir()]
            for each in files:
                _check_member(each)
            cards = [each for each in files if each.filename == "card.json"]
            if len(cards) != 1:
                raise InputRefused(f"is a CHARX with {len(cards)} files card.json; it needs one", at="file")
            if cards[0].file_size > MAX_CARD_BYTES:
                raise InputRefused(f"has a card.json of more than {MAX_CARD_BYTES} bytes", at="file")
            with archive.open(cards[0]) as opened:
                card = opened.read(MAX_CARD_BYTES + 1)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError):
        raise InputRefused(
            "is a broken CHARX; save it again in the program that made it", at="file"
        ) from None
    if len(card) > MAX_CARD_BYTES:
        raise InputRefused(f"has a card.json of more than {MAX_CARD_BYTES} bytes", at="file")
    return card, len(files) > 1


def _check_directory(content: bytes) -> None:
    """Refuse a directory of files that would need much memory, before it is read."""
    end = content.rfind(_ZIP_END)
    if end < 0 or end + 22 > len(content):
        raise InputRefused("is a broken CHARX: its directory is missing", at="file")
    if content[end - 20 : end - 16] == _ZIP64_LOCATOR:
        raise InputRefused("is a CHARX in the format for huge archives (zip64)", at="file")
    count, size = struct.unpack_from("<HI", content, end + 10)
    if count > MAX_CHUNKS or size > _ZIP_DIRECTORY_BYTES:
        raise InputRefused(f"is a CHARX with more than {MAX_CHUNKS} files or a huge directory", at="file")


def _check_member(member: ZipInfo) -> None:
    name = member.orig_filename
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0] or "\0" in name:
        raise InputRefused("is a CHARX with a file outside its own folder", at="file")
    if member.flag_bits & 1:
        raise InputRefused("is an encrypted CHARX; save it without a password", at="file")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise InputRefused("is a CHARX with an unknown compression", at="file")


def write_png(card: bytes, image: bytes | None = None) -> bytes:
    """A PNG that contains the card as `chara` and `ccv3`: this image, or a plain one.

    Cards that the image contains already are replaced. InputRefused if the image is not a PNG.
    """
    picture = _plain_picture() if image is None else image
    if not picture.startswith(PNG):
        raise InputRefused("must be a PNG", at="image")
    text = b64encode(card)
    made, position = [PNG], len(PNG)
    while position + 12 <= len(picture):
        size, kind = struct.unpack_from(">I4s", picture, position)
        end = position + 12 + size
        if kind == b"IEND":
            made += [_chunk(b"tEXt", name.encode() + b"\0" + text) for name in reversed(_KEYWORDS)]
            return b"".join((*made, _chunk(b"IEND", b"")))
        keyword = picture[position + 8 : position + 14].partition(b"\0")[0].decode("latin-1").lower()
        if not (kind in _TEXT_CHUNKS and keyword in _KEYWORDS):
            made.append(picture[position:end])
        position = end
    raise InputRefused("is a broken PNG: its end is missing", at="image")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _plain_picture(width: int = 400, height: int = 600) -> bytes:
    """A grey picture in the usual size of a card."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = (b"\0" + b"\xb0" * width) * height
    return PNG + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b"")
