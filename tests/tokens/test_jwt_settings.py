"""The settings for a sign-on: all or none, and nothing that would be unsafe."""

from __future__ import annotations

from pathlib import Path

import pytest

from gieok.errors import SettingsInvalid
from gieok.settings import load_settings
from gieok.settings.jwt import JwtSettings

RIGHT = {
    "GIEOK_JWT_ALGORITHM": "RS256",
    "GIEOK_JWT_ISSUER": "https://sign-on.example",
    "GIEOK_JWT_AUDIENCE": "gieok",
    "GIEOK_JWT_JWKS": "https://sign-on.example/jwks.json",
}


def test_without_them_nobodys_jwts_are_accepted(tmp_path: Path) -> None:
    assert load_settings({}, tmp_path).jwt is None


def test_they_come_from_the_environment_and_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "gieok.toml").write_text('jwt_algorithm = "EdDSA"\njwt_jwks = "keys.json"\n')
    environ = {name: RIGHT[name] for name in ("GIEOK_JWT_ISSUER", "GIEOK_JWT_AUDIENCE")}
    assert load_settings(environ, tmp_path).jwt == JwtSettings(
        jwt_algorithm="EdDSA",
        jwt_issuer="https://sign-on.example",
        jwt_audience="gieok",
        jwt_jwks="keys.json",
    )


@pytest.mark.parametrize("missing", RIGHT)
def test_one_of_them_alone_is_not_enough(tmp_path: Path, missing: str) -> None:
    """The error names the one that is missing."""
    environ = {name: value for name, value in RIGHT.items() if name != missing}
    with pytest.raises(SettingsInvalid, match=missing.removeprefix("GIEOK_").lower() + " must be set too"):
        load_settings(environ, tmp_path)


@pytest.mark.parametrize("algorithm", ["HS256", "none", "rs256", "RS512", "RS256,HS256"])
def test_an_algorithm_that_is_not_safe_is_refused(tmp_path: Path, algorithm: str) -> None:
    with pytest.raises(SettingsInvalid, match="one of RS256, ES256, EdDSA"):
        load_settings({**RIGHT, "GIEOK_JWT_ALGORITHM": algorithm}, tmp_path)


@pytest.mark.parametrize(
    "place",
    [
        "http://sign-on.example/jwks.json",
        "http://127.0.0.1.evil.example/jwks.json",
        "ftp://127.0.0.1/jwks.json",
        "file:///etc/jwks.json",
        "https://user:secret@sign-on.example/jwks.json",
        "https:///jwks.json",
        "https://[::1/jwks.json",
    ],
)
def test_keys_that_somebody_could_change_on_their_way_are_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(SettingsInvalid, match="jwt_jwks must be a file or an https URL") as refused:
        load_settings({**RIGHT, "GIEOK_JWT_JWKS": place}, tmp_path)
    assert place not in str(refused.value)


@pytest.mark.parametrize(
    "place", ["http://localhost:8080/jwks", "http://127.0.0.1/jwks", "http://[::1]:1/jwks", "keys/jwks.json"]
)
def test_keys_of_this_machine_need_no_https(tmp_path: Path, place: str) -> None:
    settings = load_settings({**RIGHT, "GIEOK_JWT_JWKS": place}, tmp_path).jwt
    assert settings is not None
    assert settings.jwt_jwks == place
