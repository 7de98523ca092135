"""What names a request."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from gieok.engine import Data
from gieok.errors import InputRefused

LONGEST_KEY = 255

_NOT_IN_A_KEY = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _check_key(key: str) -> str:
    if not 1 <= len(key) <= LONGEST_KEY:
        raise InputRefused(
            f"must have 1 to {LONGEST_KEY} characters and has {len(key)}", at="Idempotency-Key"
        )
    if _NOT_IN_A_KEY.search(key):
        raise InputRefused(
            "holds a control character or half of a surrogate pair; use a UUID", at="Idempotency-Key"
        )
    return key


class RequestKey(Data):
    """A client's own name for a request, and what it asked. InputRefused for a name that cannot be one."""

    key: Annotated[str, AfterValidator(_check_key), Field(repr=False)]
    body: Annotated[bytes, Field(repr=False)]
    """The whole request, in a form that is the same each time it is sent."""
