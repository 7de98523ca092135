"""What a client can do before it is authenticated: limits on connections and headers, and refused bodies."""

from __future__ import annotations

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from gieok import Settings
from gieok.errors import RateLimited
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from gieok.interfaces.rest.server.connections import ConnectionLimits
from tests.rest.conftest import GENEROUS, Server, serving

LIMITS = replace(GENEROUS, header_bytes=4096, header_lines=20, header_seconds=1.0, discard_seconds=0.3)
HALF = b"GET /healthz HTTP/1.1\r\nHost: gieok\r\n"


@pytest.fixture(scope="module")
def server(embedded: Settings) -> Iterator[Server]:
    with serving(embedded, LIMITS) as running:
        yield running


def connect(server: Server, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=30, source_address=(source, 0))


def read(client: socket.socket) -> tuple[int, dict[str, object]]:
    """Read until the server closes. The status and the JSON body of the answer."""
    head, _, body = client.makefile("rb").read().partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def assert_healthy(server: Server, source: str = "127.0.0.1") -> None:
    with connect(server, source) as client:
        client.sendall(HALF + b"Connection: close\r\n\r\n")
        assert read(client)[0] == 200


@pytest.mark.parametrize(
    "sent",
    [
        HALF + b"X-Long: " + b"a" * 5000,
        HALF + b"X-Long: " + b"a" * 5000 + b"\r\n\r\n",
        HALF + b"X-Many: 1\r\n" * 21 + b"\r\n",
        b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: " + b"a" * 5000,
        b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;extension=" + b"a" * 5000,
    ],
    ids=["unfinished header", "long header", "many headers", "long path", "trailer", "chunk extension"],
)
def test_too_large_headers_are_refused(server: Server, sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with connect(server) as client:
        client.sendall(sent)
        head = client.makefile("rb").read()
    if b"Transfer-Encoding" in sent:  # the path needs no body, so its answer may be first
        assert head.startswith((b"HTTP/1.1 431", b"HTTP/1.1 200"))
    else:
        assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
        answer = json.loads(head.partition(b"\r\n\r\n")[2])
        assert (answer["success"], answer["error"]) == (False, "HEADERS_TOO_LARGE")
        assert "4096 bytes and 20 headers" in answer["message"]
    assert_healthy(server)


def test_an_endless_header_is_refused_while_it_is_sent(server: Server) -> None:
    """The client sends until it may read the answer, as one that never ends its header would."""
    with connect(server) as client:
        client.sendall(HALF + b"X-Endless: ")
        client.settimeout(0.05)
        received = b""
        for _ in range(200):
            try:
                client.sendall(b"a" * 65_536)
                received = client.recv(65_536)
            except TimeoutError:
                continue
            break
        assert received.startswith(b"HTTP/1.1 431")


def test_headers_within_the_limits_are_accepted(server: Server) -> None:
    """Also with a body beyond them, and as several requests in one packet."""
    body = b"x" * 100_000
    with connect(server) as client:
        request = HALF + b"X-Long: " + b"a" * 3000 + b"\r\n"
        posted = request.replace(b"GET", b"POST") + b"Content-Length: %d\r\n\r\n" % len(body)
        client.sendall((request + b"\r\n") * 5 + posted + body)
        received = b""
        while received.count(b"HTTP/1.1 200") < 5 or b"HTTP/1.1 404" not in received:
            received += client.recv(65_536)


@pytest.mark.parametrize("sent", [b"", HALF], ids=["nothing", "half a request"])
def test_a_client_that_does_not_send_its_headers_in_time_is_disconnected(
    server: Server, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(server) as client:
        client.sendall(sent)
        assert is_disconnected(client)
    assert "headers not received in time (127.0.0.1" in caplog.text or not sent


@pytest.mark.parametrize("before", [b"", HALF + b"\r\n"], ids=["first request", "after a request"])
@pytest.mark.parametrize("repeated", [b"x", b"\r\n"])
def test_headers_that_trickle_in_get_no_more_time(server: Server, before: bytes, repeated: bytes) -> None:
    """A few bytes every tenth of a second, for ten seconds: the limit is one second."""
    with connect(server) as client:
        client.sendall(before)
        client.settimeout(0.1)
        assert any(is_disconnected(client, send=repeated) for _ in range(100))


def is_disconnected(client: socket.socket, send: bytes = b"") -> bool:
    """Whether the server has closed the connection, or closes it before the timeout of the client."""
    try:
        client.sendall(send)
        while client.recv(65_536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def test_connections_of_one_address_are_limited(embedded: Settings, caplog: pytest.LogCaptureFixture) -> None:
    options = replace(GENEROUS, connections_per_address=5)
    with serving(embedded, options) as server, ExitStack() as held:
        for _ in range(5):
            held.enter_context(connect(server)).sendall(HALF)
        with connect(server) as sixth:
            status, answer = read(sixth)
        assert (status, answer["error"]) == (429, "RATE_LIMITED")
        assert_healthy(server, "127.0.0.2")
        held.close()
        wait_until_healthy(server)
    assert "too many connections from one address (127.0.0.1" in caplog.text


def test_connections_are_limited_in_total(embedded: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with serving(embedded, replace(GENEROUS, connections=4)) as server, ExitStack() as held:
        for number in range(4):
            held.enter_context(connect(server, f"127.0.0.{number + 1}")).sendall(HALF)
        with connect(server, "127.0.0.9") as fifth:
            assert read(fifth)[0] == 429
        held.close()
        wait_until_healthy(server)
    assert "refused: too many connections (127.0.0.9" in caplog.text


def wait_until_healthy(server: Server) -> None:
    """The server needs a moment to notice that clients have closed their connections."""
    for _ in range(100):
        try:
            assert_healthy(server)
        except (AssertionError, OSError, IndexError):
            time.sleep(0.05)
        else:
            return
    assert_healthy(server)


def test_half_sent_requests_do_not_stop_the_service(embedded: Settings) -> None:
    """1,100 of them: more than most processes may open files."""
    with serving(embedded, GENEROUS) as server, ExitStack() as held:
        for _ in range(1100):
            held.enter_context(connect(server)).sendall(HALF)
        assert_healthy(server, "127.0.0.2")


def test_refusals_are_logged_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    limits = ConnectionLimits(ServiceOptions(connections=0), clock=lambda: now)
    for _ in range(3):
        with pytest.raises(RateLimited):
            limits.add("192.0.2.1")
    now += 1
    with pytest.raises(RateLimited):
        limits.add("192.0.2.2")
    assert [record.message for record in caplog.records] == [
        "connection refused: too many connections (192.0.2.1, 1 times)",
        "connection refused: too many connections (192.0.2.2, 3 times)",
    ]


def test_a_plain_client_reads_the_refusal_of_a_large_body(embedded: Settings) -> None:
    """urllib sends `Connection: close` and reads only after it has sent everything."""
    with serving(embedded, GENEROUS) as server:
        for token, status in ((server.token(), 413), ("gk_wrong", 401)):
            request = urllib.request.Request(
                server.url + "/api/v1/memory/create",
                data=bytes(60_000_000),
                headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            )
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=60)
            assert refused.value.code == status
            assert json.load(refused.value)["success"] is False


def test_a_refused_body_is_read_only_within_limits(embedded: Settings) -> None:
    head = b"POST /nothing HTTP/1.1\r\nHost: gieok\r\nContent-Length: 1000000000\r\n\r\n"
    with serving(embedded, replace(GENEROUS, discard_bytes=1_000_000)) as server, connect(server) as client:
        client.sendall(head)
        client.settimeout(0.01)
        assert any(is_disconnected(client, send=bytes(1_000_000)) for _ in range(1000))
    with serving(embedded, replace(GENEROUS, discard_seconds=0.5)) as server, connect(server) as client:
        client.sendall(head)
        assert read(client)[0] == 401


def test_a_client_that_waits_for_100_continue_is_refused_at_once(server: Server) -> None:
    with connect(server) as client:
        client.sendall(
            b"POST /api/v1/memory/create HTTP/1.1\r\nHost: gieok\r\nContent-Length: 1000\r\n"
            b"Expect: 100-continue\r\n\r\n"
        )
        assert client.recv(65_536).startswith(b"HTTP/1.1 401")
