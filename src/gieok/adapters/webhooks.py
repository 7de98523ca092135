"""Sends webhooks: to public addresses only, without redirects, within a time limit."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import httpx

from gieok.errors import DeliveryFailed
from gieok.memory.events.webhooks import is_public

SECONDS = 10.0
"""How long a receiver may take for one event."""
MAX_ADDRESSES = 4
"""How many addresses of a host are tried."""
USER_AGENT = "gieok-webhooks"

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def resolve_host(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, the preferred one first. OSError if it has none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Post(Protocol):
    """Sends one request to a receiver."""

    async def __call__(self, headers: Mapping[str, str], body: bytes) -> None: ...


class WebhookSender:
    """Sends requests to the receivers of webhooks."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        seconds: float = SECONDS,
        resolve: Resolve = resolve_host,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        """`allow_private` allows addresses of this machine and of private networks."""
        self.allow_private = allow_private
        self._seconds = seconds
        self._resolve = resolve
        self._verify = verify

    @asynccontextmanager
    async def receiver(self, url: str) -> AsyncGenerator[Post]:
        """Connections to the receiver at this URL, for several requests.

        The host is resolved once, every address is checked, and requests go to the checked addresses: another
        answer of the name server in between changes nothing. Proxies of the environment are not used.
        """
        target = httpx.URL(url)
        addresses = await self._addresses(target)
        async with httpx.AsyncClient(
            verify=self._verify, trust_env=False, follow_redirects=False, timeout=self._seconds
        ) as client:

            async def post(headers: Mapping[str, str], body: bytes) -> None:
                async with _explained(), asyncio.timeout(self._seconds):
                    status = await _first_answer(client, target, addresses, headers, body)
                if not 200 <= status < 300:
                    raise DeliveryFailed("the receiver did not accept the event", reason=f"HTTP_{status}")

            yield post

    async def _addresses(self, target: httpx.URL) -> Sequence[str]:
        port = target.port or (443 if target.scheme == "https" else 80)
        async with _explained(), asyncio.timeout(self._seconds):
            found = await self._resolve(target.raw_host.decode("ascii"), port)
        if not found:
            raise DeliveryFailed("the host of the webhook has no address", reason="UNREACHABLE")
        if not self.allow_private and not all(map(is_public, found)):
            raise DeliveryFailed("the host of the webhook is not public", reason="ADDRESS_REFUSED")
        return found[:MAX_ADDRESSES]


async def _first_answer(
    client: httpx.AsyncClient,
    target: httpx.URL,
    addresses: Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
) -> int:
    """The status of the first address that accepts a connection. The answer's body is not read."""
    named = {**headers, "host": target.netloc.decode("ascii"), "user-agent": USER_AGENT}
    host = {"sni_hostname": target.raw_host.decode("ascii")}
    for place, address in enumerate(addresses, start=1):
        url = target.copy_with(host=address.partition("%")[0])
        request = client.build_request("POST", url, headers=named, content=body, extensions=host)
        try:
            answer = await client.send(request, stream=True)
        except httpx.ConnectError:
            if place == len(addresses):
                raise
            continue
        await answer.aclose()
        return answer.status_code
    raise AssertionError("there is at least one address")


@asynccontextmanager
async def _explained() -> AsyncGenerator[None]:
    """Errors of the network as DeliveryFailed, with a reason that names no address."""
    try:
        yield
    except (TimeoutError, httpx.TimeoutException):
        raise DeliveryFailed("the receiver did not answer in time", reason="TIMEOUT") from None
    except (httpx.HTTPError, OSError, UnicodeError):
        raise DeliveryFailed("the receiver cannot be reached", reason="UNREACHABLE") from None
