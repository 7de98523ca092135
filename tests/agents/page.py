"""Runs the first program of a how-to page that needs a model, with a scripted model in its place."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


async def printed(page: str, place: str, model: Any, home: Path) -> str:
    """What the program prints with `model` at this place of its text. It has a home folder of its own."""
    text = (HOWTO / page).read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    assert place in found[1]
    program = compile(found[1].replace(place, f"{place.partition('=')[0]}=MODEL"), page, "exec")
    output = io.StringIO()

    def run() -> None:
        exec(program, {"__name__": "__main__", "MODEL": model})

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(output):
        patch.setenv("HOME", str(home))
        await asyncio.to_thread(run)
    return output.getvalue()
