"""The line to a service: how a call is made, tried again, read and refused. Only this file knows httpx."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, from_json, to_json

from gieok import __version__
from gieok.client.failures import AnswerUnknown, ServiceUnreachable, error_of
from gieok.client.retries import Retries, repeated
from gieok.errors import InputRefused

T = TypeVar("T")

PREFIX = "/api/v1"
CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Call:
    """One call. Parts of `query` and `body` that are None are left out, unless the call says otherwise."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    key: str | None = None
    """The Idempotency-Key. With one, sending the call twice has the effect of sending it once."""
    sends_null: bool = False
    """Where None means "take it away" and not "leave it as it is"."""

    @property
    def is_repeatable(self) -> bool:
        return self.method == "GET" or self.key is not None


def path(*parts: object) -> str:
    """A path of these parts, each of them one segment. InputRefused for a part that would lead elsewhere."""
    names = [str(part) for part in parts]
    if not {"", ".", ".."}.isdisjoint(names):
        raise InputRefused("names nothing; give the id of one thing", at="id")
    return "".join(f"/{quote(name, safe='')}" for name in names)


class Line:
    """An open line to one service, with one token."""

    def __init__(
        self, url: str, token: str, *, language: str | None, timeout_seconds: float, retries: Retries
    ) -> None:
        self._retries = retries
        self._http = httpx.AsyncClient(
            base_url=_checked_url(url) + PREFIX,
            headers=_headers(token, language),
            timeout=httpx.Timeout(timeout_seconds, connect=CONNECT_SECONDS),
        )

    async def __aenter__(self) -> Self:
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    async def ask(self, call: Call, kind: type[T], pick: str | None = None) -> T:
        """The answer, or the part of it named `pick`, as a record of this kind."""
        return _read(call, await self.content(call), kind, pick)

    async def content(self, call: Call) -> bytes:
        """The answer as it came. A call that may be repeated is, where that helps."""

        async def once() -> bytes:
            async with self._answer(self._request(call)) as answer:
                return await answer.aread()

        return await repeated(once, self._retries, asyncio.sleep) if call.is_repeatable else await once()

    async def upload(self, call: Call, pieces: AsyncIterable[bytes], media_type: str, kind: type[T]) -> T:
        """The answer to a call whose body is a stream. It is not tried again."""
        request = self._http.build_request(
            call.method, call.path, content=pieces, headers={"Content-Type": media_type}
        )
        async with self._answer(request) as answer:
            return _read(call, await answer.aread(), kind, None)

    async def stream(self, call: Call) -> AsyncGenerator[bytes]:
        """The pieces of an answer as they come. Close it to hang up; it is not tried again."""
        async with self._answer(self._request(call)) as answer:
            async for piece in answer.aiter_bytes():
                yield piece

    def _request(self, call: Call) -> httpx.Request:
        headers = {} if call.key is None else {"Idempotency-Key": call.key}
        content = None
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            content = _json(call)
        query = {name: value for name, value in (call.query or {}).items() if value is not None}
        return self._http.build_request(
            call.method, call.path, params=query, content=content, headers=headers
        )

    @asynccontextmanager
    async def _answer(self, request: httpx.Request) -> AsyncGenerator[httpx.Response]:
        """An answer that is a success and not read yet; any other is raised as the error it stands for."""
        with _reached(request):
            answer = await self._http.send(request, stream=True)
            try:
                if not answer.is_success:
                    raise error_of(answer.status_code, await answer.aread(), answer.headers)
                yield answer
            finally:
                await answer.aclose()


@contextmanager
def _reached(request: httpx.Request) -> Generator[None]:
    try:
        yield
    except httpx.TransportError as error:
        place = f"{request.url.scheme}://{request.url.netloc.decode()}"
        raise ServiceUnreachable(
            f"no whole answer came from {place} ({type(error).__name__}); see whether the service runs there"
        ) from None


def _checked_url(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.userinfo or parsed.query:
        raise InputRefused("must be the address of a service, such as http://127.0.0.1:8377", at="url")
    return str(parsed).rstrip("/")


def _headers(token: str, language: str | None) -> dict[str, str]:
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputRefused("must be what `gieok token create` printed", at="token")
    headers = {"Authorization": f"Bearer {token}", "User-Agent": f"gieok/{__version__}"}
    return headers | ({} if language is None else {"Accept-Language": language})


def _json(call: Call) -> bytes:
    given = (call.body or {}).items()
    try:
        return to_json({name: value for name, value in given if call.sends_null or value is not None})
    except PydanticSerializationError:
        raise InputRefused(
            "holds what JSON cannot carry, such as half of a surrogate pair", at="body"
        ) from None


def _read(call: Call, content: bytes, kind: type[T], pick: str | None) -> T:
    try:
        document = from_json(content)
        part = document if pick is None else document[pick]
        return _adapter(kind).validate_python(part, strict=False, extra="ignore")
    except (ValueError, KeyError, TypeError):
        raise AnswerUnknown(
            f"the answer of {call.method} {call.path} is not what this client knows; "
            f"is the service of another version than {__version__}?"
        ) from None


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)
