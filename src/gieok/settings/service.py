"""The settings of the service: where it listens, and how much one owner may ask of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from gieok.errors import SettingsInvalid

T = TypeVar("T")


@dataclass(frozen=True)
class ServiceSettings:
    """What `gieok serve` is told by GIEOK_HOST, GIEOK_PORT and so on."""

    host: str = "127.0.0.1"
    port: int = 8377
    rate_per_second: float = 500.0
    """Requests of one owner, on the long run, in each process: enough to bring a history along at speed."""
    rate_burst: int = 1000
    """Requests of one owner at once."""
    metrics_open: bool = False
    """Answer /metrics without a token to callers on this machine."""


DEFAULT_SERVICE = ServiceSettings()


def service_settings(given: Mapping[str, str]) -> ServiceSettings:
    """The settings that were given as text; SettingsInvalid names the one that is wrong."""
    return ServiceSettings(
        host=given.get("host", DEFAULT_SERVICE.host),
        port=_read(given, "port", _port, "a number from 0 to 65535", DEFAULT_SERVICE.port),
        rate_per_second=_read(
            given, "rate_per_second", _rate, "a number that is more than 0", DEFAULT_SERVICE.rate_per_second
        ),
        rate_burst=_read(given, "rate_burst", _burst, "a whole number from 1", DEFAULT_SERVICE.rate_burst),
        metrics_open=_read(given, "metrics_open", _BOOLEANS.__getitem__, "true or false", False),
    )


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _read(given: Mapping[str, str], name: str, read: Callable[[str], T], form: str, default: T) -> T:
    text = given.get(name)
    if text is None:
        return default
    try:
        return read(text.strip().lower())
    except (ValueError, KeyError):
        raise SettingsInvalid(f"{name} must be {form}") from None


def _port(text: str) -> int:
    return _within(int(text), 0, 65535)


def _burst(text: str) -> int:
    return _within(int(text), 1, 1_000_000)


def _rate(text: str) -> float:
    return _within(float(text), 1e-6, 1e6)


N = TypeVar("N", int, float)


def _within(number: N, least: N, most: N) -> N:
    if not least <= number <= most or math.isnan(number):
        raise ValueError
    return number
