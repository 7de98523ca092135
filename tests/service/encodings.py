"""Finds a text in binary content in any common encoding."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable


def encodings_of(text: str) -> dict[str, bytes]:
    """The text in each encoding, by the name of the encoding."""
    plain = text.encode()
    encodings = {
        "UTF-8": plain,
        "UTF-16-LE": text.encode("utf-16-le"),
        "UTF-16-BE": text.encode("utf-16-be"),
        "hex": plain.hex().encode(),
        "HEX": plain.hex().upper().encode(),
        "JSON": json.dumps(text)[1:-1].encode(),
        "percent": "".join(f"%{byte:02X}" for byte in plain).encode(),
    }
    for shift in range(3):
        # Base64 encodes three bytes as four digits, so the digits depend on the offset. The outer digits also
        # depend on the neighbouring bytes and are cut off.
        digits = base64.b64encode(b"\0" * shift + plain)
        inner = digits[4 * (shift > 0) : 4 * ((shift + len(plain)) // 3)]
        encodings[f"base64 {shift}"] = inner
        encodings[f"base64url {shift}"] = inner.replace(b"+", b"-").replace(b"/", b"_")
    return encodings


def occurrences(content: bytes, texts: Iterable[str]) -> list[str]:
    """The texts that the content contains, with their encodings."""
    return [
        f"{text} as {name}"
        for text in texts
        for name, encoded in encodings_of(text).items()
        if encoded in content
    ]
