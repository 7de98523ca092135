"""Where the service listens, and whether it may listen there."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from ipaddress import ip_address

from gieok.errors import SettingsInvalid

BACKLOG = 2048


def listen(host: str, port: int) -> socket.socket:
    """An open socket. SettingsInvalid says why there cannot be one, and what to do."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except socket.gaierror:
        raise SettingsInvalid(f"'{host}' is no address of this machine; give another --host") from None
    except OSError as error:
        raise SettingsInvalid(_why(error, host, port)) from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def url_of(listening: socket.socket) -> str:
    """The URL under which a socket answers."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _why(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use; stop what listens there, or give another --port"
    if error.errno == errno.EACCES:
        return f"this user may not listen on port {port}; give one above 1023 with --port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"'{host}' is no address of this machine; give another --host"
    return f"cannot listen on {host} port {port} ({error.strerror}); give another --host or --port"
