"""What a request asks for, before any route sees it: a path that can exist, a query that can be read."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import unquote_to_bytes

from starlette.types import Scope

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.rest.errors import NO_SUCH_CALL
from gieok.interfaces.rest.options import ServiceOptions

METRICS = "/metrics"
_OPEN = frozenset({"/healthz", "/readyz", "/docs", "/openapi.json"})
_PLAIN_QUERY = re.compile(rb"[A-Za-z0-9._~=&+:,-]*")
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


def is_open(scope: Scope, options: ServiceOptions) -> bool:
    """Whether this needs no token."""
    path: str = scope["path"]
    if path in _OPEN or path.startswith("/docs/"):
        return True
    return path == METRICS and options.metrics_open and _is_local(scope)


def check_path(scope: Scope) -> None:
    """NotFound for a path that names nothing: with a NUL, or bytes that are no UTF-8."""
    path: str = scope["path"]
    if "\x00" in path or "\ufffd" in path:
        raise NotFound(NO_SUCH_CALL)


def check_query(scope: Scope) -> None:
    """InputRefused for a query string that can be read in two ways, or not at all."""
    query: bytes = scope["query_string"]
    if _PLAIN_QUERY.fullmatch(query):
        return
    if _BROKEN_ESCAPE.search(query):
        raise InputRefused("the query string has a % that no two hexadecimal digits follow; write it as %25")
    try:
        text = unquote_to_bytes(query).decode("utf-8")
    except UnicodeDecodeError:
        raise InputRefused("the query string is not UTF-8") from None
    if "\x00" in text:
        raise InputRefused("the query string holds a NUL")


def _is_local(scope: Scope) -> bool:
    client = scope.get("client")
    try:
        return client is not None and ip_address(client[0]).is_loopback
    except ValueError:
        return False
