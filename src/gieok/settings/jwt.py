"""The settings for a service with a sign-on of its own, whose JWTs Gieok accepts beside its tokens."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, cast, get_args
from urllib.parse import urlsplit

from gieok.errors import SettingsInvalid

JwtAlgorithm = Literal["RS256", "ES256", "EdDSA"]
"""Those whose verifier needs no secret. HS256 is not among them: who can verify with it can also sign."""


@dataclass(frozen=True)
class JwtSettings:
    """Whose JWTs are accepted: GIEOK_JWT_ALGORITHM and so on, all of them or none."""

    jwt_algorithm: JwtAlgorithm
    """The only one that is accepted, whatever a JWT says of itself."""
    jwt_issuer: str
    jwt_audience: str
    jwt_jwks: str
    """The public keys: the path of a file, or an https URL of the operator."""

    @property
    def keys_are_fetched(self) -> bool:
        """By a URL, not from a file."""
        return "://" in self.jwt_jwks


JWT_NAMES = tuple(each.name for each in fields(JwtSettings))


def jwt_settings(given: Mapping[str, str]) -> JwtSettings | None:
    """The settings that were given, None where none was; SettingsInvalid says what is missing or wrong."""
    if not given:
        return None
    missing = [name for name in JWT_NAMES if name not in given]
    if missing:
        raise SettingsInvalid(
            f"{', '.join(missing)} must be set too: JWTs need all of {', '.join(JWT_NAMES)}, or none of them"
        )
    if given["jwt_algorithm"] not in get_args(JwtAlgorithm):
        raise SettingsInvalid(f"jwt_algorithm must be one of {', '.join(get_args(JwtAlgorithm))}")
    algorithm = cast(JwtAlgorithm, given["jwt_algorithm"])
    settings = JwtSettings(algorithm, given["jwt_issuer"], given["jwt_audience"], given["jwt_jwks"])
    if settings.keys_are_fetched and not _is_safe(settings.jwt_jwks):
        raise SettingsInvalid(
            "jwt_jwks must be a file or an https URL without a login (http on this machine only)"
        )
    return settings


def _is_safe(url: str) -> bool:
    """Whoever can change the keys on their way can be anybody."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
