"""HTTP transport of the client: requests, retries, parsing and streams. Only this file imports httpx."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import quote

import httpx
import stamina
from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, from_json, to_json

from gieok import __version__
from gieok.client.errors import AnswerUnknown, ServiceUnreachable, to_error
from gieok.errors import InputRefused, RateLimited

T = TypeVar("T")

PREFIX = "/api/v1"
CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how long a call is retried. Only calls that are safe to repeat are retried at all."""

    attempts: int = 4
    """Number of attempts in total."""
    first_wait: float = 0.2
    """Seconds before the second attempt if no answer arrived; doubled each time. Jitter is added."""
    longest_wait: float = 30.0
    """Longest wait in seconds. If the service asks for a longer one, RateLimited is raised instead."""

    def backoff(self, error: Exception) -> bool | float:
        """For stamina: whether to retry after this error, or the seconds that the service asked to wait."""
        if isinstance(error, RateLimited):
            return error.retry_after if error.retry_after <= self.longest_wait else False
        return isinstance(error, ServiceUnreachable)


@dataclass(frozen=True, slots=True)
class Call:
    """One call. Fields of `query` and `body` that are None are left out, unless `sends_null` is set."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    sends_null: bool = False
    """For a body in which null means "remove it" and not "leave it as it is"."""

    @property
    def is_idempotent(self) -> bool:
        return self.method == "GET" or self.idempotency_key is not None


def path(*parts: object) -> str:
    """A path of these segments, escaped. InputRefused for a segment that would change the path."""
    names = [str(part) for part in parts]
    if not {"", ".", ".."}.isdisjoint(names):
        raise InputRefused("is not an id", at="id")
    return "".join(f"/{quote(name, safe='')}" for name in names)


class Transport:
    """An HTTP connection to one service, with one token."""

    def __init__(
        self, url: str, token: str, *, language: str | None, timeout_seconds: float, retries: Retries
    ) -> None:
        self._retry = stamina.AsyncRetryingCaller(
            attempts=retries.attempts,
            timeout=None,
            wait_initial=retries.first_wait,
            wait_jitter=retries.first_wait,
            wait_max=retries.longest_wait,
        ).on(retries.backoff)
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

    async def request(self, call: Call, kind: type[T], *, field: str | None = None) -> T:
        """Make a call and parse its answer, or one field of it, as this type."""
        return _parse(call, await self.content(call), kind, field)

    async def content(self, call: Call) -> bytes:
        """Make a call and return the body of its answer. An idempotent call is retried."""

        async def attempt() -> bytes:
            async with self._answer(self._build(call)) as answer:
                return await answer.aread()

        return await self._retry(attempt) if call.is_idempotent else await attempt()

    async def upload(self, call: Call, chunks: AsyncIterable[bytes], media_type: str, kind: type[T]) -> T:
        """Make a call with a streamed body and parse its answer. It is not retried."""
        headers = {"Content-Type": media_type, **_key_header(call)}
        request = self._http.build_request(call.method, call.path, content=chunks, headers=headers)
        async with self._answer(request) as answer:
            return _parse(call, await answer.aread(), kind, None)

    async def send_file(self, call: Call, content: bytes, kind: type[T]) -> T:
        """Make a call with a multipart body of one file. An idempotent call is retried."""

        async def attempt() -> bytes:
            request = self._http.build_request(
                call.method,
                call.path,
                params=_query(call),
                headers=_key_header(call),
                files={"file": ("file", content, "application/octet-stream")},
            )
            async with self._answer(request) as answer:
                return await answer.aread()

        body = await self._retry(attempt) if call.is_idempotent else await attempt()
        return _parse(call, body, kind, None)

    async def stream(self, call: Call) -> AsyncGenerator[bytes]:
        """Yield the chunks of an answer as they arrive. It is not retried; closing it disconnects."""
        async with self._answer(self._build(call)) as answer:
            async for chunk in answer.aiter_bytes():
                yield chunk

    def _build(self, call: Call) -> httpx.Request:
        headers = _key_header(call)
        content = None
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            content = _json(call)
        return self._http.build_request(
            call.method, call.path, params=_query(call), content=content, headers=headers
        )

    @asynccontextmanager
    async def _answer(self, request: httpx.Request) -> AsyncGenerator[httpx.Response]:
        """A successful answer whose body is not read yet. Raises the error of an unsuccessful one."""
        with _transport_errors(request):
            answer = await self._http.send(request, stream=True)
            try:
                if not answer.is_success:
                    raise to_error(answer.status_code, await answer.aread(), answer.headers)
                yield answer
            finally:
                await answer.aclose()


def _key_header(call: Call) -> dict[str, str]:
    return {} if call.idempotency_key is None else {"Idempotency-Key": call.idempotency_key}


def _query(call: Call) -> dict[str, Any]:
    return {name: value for name, value in (call.query or {}).items() if value is not None}


class ServerSentEvent(NamedTuple):
    """One event of a stream: its name, and its data, which is JSON."""

    name: str
    data: bytes


async def server_sent_events(chunks: AsyncIterable[bytes]) -> AsyncIterator[ServerSentEvent]:
    """Parse a stream of server-sent events. An incomplete event at the end is dropped."""
    name, data = "", b""
    async for line in lines(chunks):
        field, _, value = line.removesuffix(b"\n").removesuffix(b"\r").partition(b":")
        if line.strip() == b"" and data:
            yield ServerSentEvent(name, data)
            name, data = "", b""
        elif field == b"event":
            name = value.strip().decode()
        elif field == b"data":
            data += value.removeprefix(b" ")


async def lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Split a stream into lines, each with its line feed.

    Only a line feed ends a line: JSON strings may contain other characters that some readers split at.
    """
    rest: list[bytes] = []
    async for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        for line in whole:
            yield b"".join((*rest, line, b"\n"))
            rest.clear()
        if last:
            rest.append(last)
    if rest:
        yield b"".join(rest)


@contextmanager
def _transport_errors(request: httpx.Request) -> Generator[None]:
    try:
        yield
    except httpx.TransportError as error:
        address = f"{request.url.scheme}://{request.url.netloc.decode()}"
        raise ServiceUnreachable(
            f"no complete answer from {address} ({type(error).__name__}); check that the service runs there"
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
        raise InputRefused("must be a token that `gieok token create` printed", at="token")
    headers = {"Authorization": f"Bearer {token}", "User-Agent": f"gieok/{__version__}"}
    return headers | ({} if language is None else {"Accept-Language": language})


def _json(call: Call) -> bytes:
    fields = (call.body or {}).items()
    try:
        return to_json({name: value for name, value in fields if call.sends_null or value is not None})
    except PydanticSerializationError:
        raise InputRefused(
            "contains text that JSON cannot represent, such as half of a surrogate pair", at="body"
        ) from None


def _parse(call: Call, content: bytes, kind: type[T], field: str | None) -> T:
    try:
        document = from_json(content)
        part = document if field is None else document[field]
        return _adapter(kind).validate_python(part, strict=False, extra="ignore")
    except (ValueError, KeyError, TypeError):
        raise AnswerUnknown(
            f"this client cannot read the answer of {call.method} {call.path}; "
            f"is the service of another version than {__version__}?"
        ) from None


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)
