"""The JWT settings: all or none, and only safe values."""

from __future__ import annotations

from pathlib import Path

import pytest

from gieok.errors import SettingsInvalid
from gieok.settings import JwtSettings, load_settings

VALID = {
    "GIEOK_JWT_ALGORITHM": "RS256",
    "GIEOK_JWT_ISSUER": "https://login.example",
    "GIEOK_JWT_AUDIENCE": "gieok",
    "GIEOK_JWT_JWKS": "https://login.example/jwks.json",
}


def test_without_settings_no_jwts_are_accepted(tmp_path: Path) -> None:
    assert load_settings({}, tmp_path).jwt is None


def test_settings_come_from_the_environment_and_the_file(tmp_path: Path) -> None:
    (tmp_path / "gieok.toml").write_text('jwt_algorithm = "EdDSA"\njwt_jwks = "keys.json"\n')
    environ = {name: VALID[name] for name in ("GIEOK_JWT_ISSUER", "GIEOK_JWT_AUDIENCE")}
    assert load_settings(environ, tmp_path).jwt == JwtSettings(
        jwt_algorithm="EdDSA",
        jwt_issuer="https://login.example",
        jwt_audience="gieok",
        jwt_jwks="keys.json",
    )


@pytest.mark.parametrize("missing", VALID)
def test_a_missing_setting_is_named(tmp_path: Path, missing: str) -> None:
    environ = {name: value for name, value in VALID.items() if name != missing}
    with pytest.raises(SettingsInvalid, match=missing.removeprefix("GIEOK_").lower() + " must be set too"):
        load_settings(environ, tmp_path)


@pytest.mark.parametrize("algorithm", ["HS256", "none", "rs256", "RS512", "RS256,HS256"])
def test_an_unsafe_algorithm_is_refused(tmp_path: Path, algorithm: str) -> None:
    with pytest.raises(SettingsInvalid, match="one of RS256, ES256, EdDSA"):
        load_settings({**VALID, "GIEOK_JWT_ALGORITHM": algorithm}, tmp_path)


@pytest.mark.parametrize(
    "jwks",
    [
        "http://login.example/jwks.json",
        "http://127.0.0.1.evil.example/jwks.json",
        "ftp://127.0.0.1/jwks.json",
        "file:///etc/jwks.json",
        "https://user:secret@login.example/jwks.json",
        "https:///jwks.json",
        "https://[::1/jwks.json",
    ],
)
def test_an_insecure_jwks_url_is_refused(tmp_path: Path, jwks: str) -> None:
    with pytest.raises(SettingsInvalid, match="jwt_jwks must be a file or an https URL") as refused:
        load_settings({**VALID, "GIEOK_JWT_JWKS": jwks}, tmp_path)
    assert jwks not in str(refused.value)


@pytest.mark.parametrize(
    "jwks", ["http://localhost:8080/jwks", "http://127.0.0.1/jwks", "http://[::1]:1/jwks", "keys/jwks.json"]
)
def test_local_keys_need_no_https(tmp_path: Path, jwks: str) -> None:
    settings = load_settings({**VALID, "GIEOK_JWT_JWKS": jwks}, tmp_path).jwt
    assert settings is not None
    assert settings.jwt_jwks == jwks
