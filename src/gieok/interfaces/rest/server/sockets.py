"""The listening socket."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from ipaddress import ip_address

from gieok.errors import SettingsInvalid

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket. SettingsInvalid says why that is not possible, and what to do."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        # Without uvloop, asyncio leaves it off for such a socket, and a short answer waits 40 ms for an ACK.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except socket.gaierror:
        raise SettingsInvalid(f"'{host}' is not an address of this machine; give another --host") from None
    except OSError as error:
        raise SettingsInvalid(_reason(error, host, port)) from None
    return listening


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to the host."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def url_of(listening: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _reason(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use; stop the other program, or give another --port"
    if error.errno == errno.EACCES:
        return f"this user may not listen on port {port}; give a port above 1023 with --port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"'{host}' is not an address of this machine; give another --host"
    return f"cannot listen on {host} port {port} ({error.strerror}); give another --host or --port"
