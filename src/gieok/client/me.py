"""The owner's own data, as `client.me`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing

from gieok.client.line import Call, Line
from gieok.client.streams import lines
from gieok.wire import Erased, Imported

NDJSON = "application/x-ndjson"


class Me:
    """All of an owner's data: out, in, and gone for good. The token needs the scope `owner`."""

    def __init__(self, line: Line) -> None:
        self._line = line

    async def export(self) -> AsyncGenerator[bytes]:
        """Everything the owner has, of one moment and in clear: one JSON record a line, with its line end.

        ServiceUnreachable where it breaks off: then what came so far is not all of it.
        """
        async with aclosing(self._line.stream(Call("GET", "/me/export"))) as pieces:
            async for line in lines(pieces):
                yield line

    async def import_(self, stream: AsyncIterable[bytes]) -> Imported:
        """Take in what `export` gave, here or elsewhere: all of it, or nothing. Twice is the same as once."""
        return await self._line.upload(Call("POST", "/me/import"), stream, NDJSON, Imported)

    async def erase(self) -> Erased:
        """Destroy the owner's keys and rows for good. From then on every token of the owner is refused."""
        return await self._line.ask(Call("DELETE", "/me"), Erased)
