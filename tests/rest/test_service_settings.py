"""The settings of the service, from the environment and from gieok.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from gieok.errors import SettingsInvalid
from gieok.interfaces.rest.gateway.limits import options_from
from gieok.settings import ServiceSettings, load_settings


def test_the_default_is_to_listen_on_loopback(tmp_path: Path) -> None:
    assert load_settings({}, tmp_path).service == ServiceSettings("127.0.0.1", 8377)


def test_environment_and_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "gieok.toml").write_text(
        'host = "0.0.0.0"\nport = 80\nmetrics_open = true\nrate_per_second = 2.5\n'
    )
    service = load_settings({"GIEOK_PORT": "8080", "GIEOK_RATE_BURST": "7"}, tmp_path).service
    assert service == ServiceSettings("0.0.0.0", 8080, 2.5, 7, metrics_open=True)
    options = options_from(service)
    assert (options.rate_per_second, options.rate_burst, options.metrics_open) == (2.5, 7, True)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GIEOK_PORT", "65536"),
        ("GIEOK_PORT", "-1"),
        ("GIEOK_PORT", "http"),
        ("GIEOK_RATE_PER_SECOND", "0"),
        ("GIEOK_RATE_PER_SECOND", "nan"),
        ("GIEOK_RATE_PER_SECOND", "inf"),
        ("GIEOK_RATE_BURST", "0"),
        ("GIEOK_RATE_BURST", "1.5"),
        ("GIEOK_METRICS_OPEN", "perhaps"),
    ],
)
def test_an_invalid_value_is_refused_with_its_name(tmp_path: Path, variable: str, value: str) -> None:
    name = variable.removeprefix("GIEOK_").lower()
    with pytest.raises(SettingsInvalid, match=f"{name} must be"):
        load_settings({variable: value}, tmp_path)
