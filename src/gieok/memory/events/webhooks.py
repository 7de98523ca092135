"""Webhooks: records, and the pure rules about URLs, addresses, bodies and signatures.

Headers, body and signature are those of Standard Webhooks (standardwebhooks.com).
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Annotated, Any
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from pydantic import Field

from gieok.engine import Data
from gieok.errors import InputRefused
from gieok.memory.events.records import WEBHOOK, Event, EventKind
from gieok.memory.fields import Timestamp

MAX_WEBHOOKS = 10
"""Webhooks of one owner."""
MAX_URL_CHARS = 2_000
MAX_BODY_BYTES = 256 * 1024
"""A larger body is sent without the content."""
SECRET_PREFIX = "whsec_"  # noqa: S105  the prefix of all secrets
SECRET_BYTES = 32
_NAT64 = IPv6Network("64:ff9b::/96")
_SPECIAL = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "3fff::/20")))
"""Networks of IANA's registries of special addresses that `ipaddress` counts as public in some versions."""

EventKinds = Annotated[tuple[EventKind, ...], Field(max_length=64, strict=False)]


class Webhook(Data):
    """Where events of an owner are sent."""

    id: UUID
    url: str
    events: EventKinds
    """The kinds of event that are sent; () for all."""
    include_content: bool
    """Whether the content of the subject is sent too, as it is at the time of the delivery."""
    created_at: Timestamp


class NewWebhook(Data):
    """A webhook with the secret that its requests are signed with. The secret is shown only once."""

    webhook: Webhook
    secret: str


def consumer_name(webhook_id: UUID) -> str:
    """The name of a webhook among the consumers of events."""
    return f"{WEBHOOK}{webhook_id}"


def make_secret(random: bytes) -> str:
    """A secret in the form of Standard Webhooks."""
    return SECRET_PREFIX + base64.b64encode(random).decode()


def check_url(url: str, *, allow_private: bool) -> str:
    """Return the URL of a webhook, or raise InputRefused. Host names are resolved at each delivery, not here.

    Without `allow_private` it must be https, and no address of this machine or of a private network.
    """
    if not 1 <= len(url) <= MAX_URL_CHARS or not url.isascii() or not url.isprintable() or " " in url:
        raise InputRefused(f"must be a URL of at most {MAX_URL_CHARS} ASCII characters", at="url")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise InputRefused("is not a URL", at="url") from None
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        raise InputRefused("must begin with https://", at="url")
    if not host or port == 0 or "\\" in url:
        raise InputRefused("has no valid host or port", at="url")
    if parts.username is not None or parts.password is not None:
        raise InputRefused("must not contain a user name or password; requests are signed", at="url")
    if parts.fragment:
        raise InputRefused("must not contain a fragment", at="url")
    if not allow_private and _is_private_host(host):
        raise InputRefused("is an address of this machine or of a private network", at="url")
    return url


def _is_private_host(host: str) -> bool:
    try:
        return not is_public(host)
    except ValueError:
        return host.rstrip(".").rpartition(".")[2] == "localhost"


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet. ValueError if it is not an address.

    Addresses that contain an IPv4 address (mapped, 6to4, NAT64) are judged by it.
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = _inner(found)
        if inner is not None:
            return _is_global(inner)
        if found.teredo is not None:
            return False
    return _is_global(found)


def _inner(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    is_special = address.is_multicast or address.is_reserved or any(address in each for each in _SPECIAL)
    is_site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not is_special and not is_site_local


def message_id(webhook_id: UUID, event: Event) -> str:
    """The `webhook-id` of an event: the same for each attempt, so that a receiver can ignore repetitions."""
    return f"msg_{uuid5(webhook_id, str(event.number))}"


def body_of(event: Event, content: Mapping[str, Any] | None, *, include_content: bool) -> bytes:
    """The JSON body of an event. Content that makes it too large is left out; `contentOmitted` says so."""
    facts = event.model_dump(mode="json", by_alias=True, exclude_none=True)
    data = {name: value for name, value in facts.items() if name not in ("kind", "at")}
    body: dict[str, Any] = {"type": event.kind, "timestamp": facts["at"], "data": data}
    plain = _encoded(body)
    if not include_content:
        return plain
    data["content"] = content
    whole = _encoded(body)
    if len(whole) <= MAX_BODY_BYTES:
        return whole
    data["content"] = None
    data["contentOmitted"] = True
    return _encoded(body)


def _encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def signed_headers(secret: str, identity: str, at: datetime, body: bytes) -> dict[str, str]:
    """The headers that identify and sign a request."""
    timestamp = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    digest = hmac.digest(key, b".".join((identity.encode(), timestamp.encode(), body)), sha256)
    return {
        "content-type": "application/json",
        "webhook-id": identity,
        "webhook-timestamp": timestamp,
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }
