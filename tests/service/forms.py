"""A text in all the forms in which it could lie about."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable


def forms_of(text: str) -> dict[str, bytes]:
    """Each form by its name."""
    plain = text.encode()
    forms = {
        "UTF-8": plain,
        "UTF-16-LE": text.encode("utf-16-le"),
        "UTF-16-BE": text.encode("utf-16-be"),
        "hex": plain.hex().encode(),
        "HEX": plain.hex().upper().encode(),
        "JSON": json.dumps(text)[1:-1].encode(),
        "percent": "".join(f"%{byte:02X}" for byte in plain).encode(),
    }
    for shift in range(3):
        # Three letters are four digits: what begins elsewhere has other digits. Those at the rim depend on
        # what stands beside the text, and are left out.
        digits = base64.b64encode(b"\0" * shift + plain)
        inner = digits[4 * (shift > 0) : 4 * ((shift + len(plain)) // 3)]
        forms[f"base64 {shift}"] = inner
        forms[f"base64url {shift}"] = inner.replace(b"+", b"-").replace(b"/", b"_")
    return forms


def found_in(content: bytes, texts: Iterable[str]) -> list[str]:
    """The forms in which some of the texts are in there."""
    return [f"{text} as {name}" for text in texts for name, form in forms_of(text).items() if form in content]
