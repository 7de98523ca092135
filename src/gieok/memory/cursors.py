"""Opaque cursors of paged lists: the position after the last item of a page. They hold no content."""

from __future__ import annotations

import base64
from typing import TypeVar

from gieok.engine import Data
from gieok.errors import InputRefused

D = TypeVar("D", bound=Data)


def encode_cursor(position: Data) -> str:
    """The position as text."""
    return base64.urlsafe_b64encode(position.model_dump_json().encode()).decode()


def decode_cursor(position: type[D], cursor: str) -> D:
    """The inverse of `encode_cursor`. InputRefused for a cursor of something else."""
    try:
        return position.model_validate_json(base64.urlsafe_b64decode(cursor))
    except ValueError:
        raise InputRefused("is not a valid cursor; start again without one", at="cursor") from None
