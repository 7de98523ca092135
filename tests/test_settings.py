"""The sources of the settings, and the errors for wrong ones."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from gieok.errors import SettingsInvalid
from gieok.settings import load_settings, unknown_variables


def test_the_defaults_are_sqlite_and_the_offline_model(tmp_path: Path) -> None:
    settings = load_settings({}, tmp_path)
    assert settings.database_url.startswith("sqlite:///")
    assert settings.keystore_url == settings.database_url + ".keys"
    assert settings.model == "offline"
    assert settings.data_folder is not None
    assert not settings.own_key_file.is_relative_to(settings.data_folder)


def test_the_environment_takes_precedence_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "gieok.toml").write_text('database_url = "sqlite:///a.db"\nkeystore_url = "sqlite:///k.db"\n')
    settings = load_settings({"GIEOK_DATABASE_URL": "sqlite:///b.db"}, tmp_path)
    assert (settings.database_url, settings.keystore_url) == ("sqlite:///b.db", "sqlite:///k.db")


def test_an_empty_variable_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "gieok.toml").write_text('database_url = "sqlite:///a.db"\n')
    assert load_settings({"GIEOK_DATABASE_URL": ""}, tmp_path).database_url == "sqlite:///a.db"


def test_the_default_keystore_of_postgres_is_on_the_same_server(tmp_path: Path) -> None:
    settings = load_settings({"GIEOK_DATABASE_URL": "postgresql://localhost/gieok"}, tmp_path)
    assert settings.keystore_url == "postgresql://localhost/gieok"
    assert settings.data_folder is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("database_ulr = 'x'", "did you mean 'database_url'"),
        ("nonsense = 'x'", "known: .*database_url"),
        ("database_url = 5", "must be a non-empty string"),
        ("database_url = ''", "must be a non-empty string"),
        ("database_url = ", "TOML"),
        ("root_key = 'secret'", "not a setting"),
        ("model = 'gpt'", "model 'gpt' is unknown"),
        (b"\xff\xfe", "TOML"),
    ],
)
def test_an_invalid_file_is_refused_with_its_path(tmp_path: Path, content: str | bytes, message: str) -> None:
    file = tmp_path / "gieok.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(SettingsInvalid, match=message) as refused:
        load_settings({}, tmp_path)
    assert "gpt" in message or str(file) in str(refused.value)


def test_a_configured_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"missing\.toml"):
        load_settings({"GIEOK_CONFIG": str(tmp_path / "missing.toml")}, tmp_path)


def test_a_configured_file_may_be_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "mine.toml").write_text('database_url = "sqlite:///a.db"\n')
    assert load_settings({"GIEOK_CONFIG": "~/mine.toml"}, tmp_path).database_url == "sqlite:///a.db"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GIEOK_DATABASE_URL", "sqlite:///~no-such-user/x.db"),
        ("GIEOK_ROOT_KEY_FILE", "~no-such-user/x"),
        ("GIEOK_CONFIG", "~no-such-user/x"),
    ],
)
def test_the_home_of_an_unknown_user_is_refused(tmp_path: Path, variable: str, value: str) -> None:
    with pytest.raises(SettingsInvalid, match="home folder of an unknown user"):
        load_settings({variable: value}, tmp_path)


def test_a_deleted_current_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SettingsInvalid, match="current folder was deleted"):
        load_settings({})


def test_the_data_folder_never_contains_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even on macOS, where data and configuration of a program share one folder."""

    def folder(_: str) -> Path:
        return tmp_path

    monkeypatch.setattr(platformdirs, "user_data_path", folder)
    monkeypatch.setattr(platformdirs, "user_config_path", folder)
    settings = load_settings({}, tmp_path)
    assert settings.data_folder is not None
    assert not settings.own_key_file.is_relative_to(settings.data_folder)
    assert not settings.data_folder.is_relative_to(settings.own_key_file.parent)


def test_a_cache_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="cache_url must begin with"):
        load_settings({"GIEOK_CACHE_URL": "memcached://127.0.0.1"}, tmp_path)
    assert load_settings({"GIEOK_CACHE_URL": "unix:///run/redis.sock"}, tmp_path).cache_url is not None


def test_a_mistyped_variable_is_reported() -> None:
    environ = {"GIEOK_DATABSE_URL": "x", "GIEOK_MODEL": "offline", "GIEOK_ROOT_KEY": "k", "PATH": "/bin"}
    (found,) = unknown_variables(environ)
    assert found == "GIEOK_DATABSE_URL (did you mean 'GIEOK_DATABASE_URL'?)"


def test_printing_settings_shows_no_secret(tmp_path: Path) -> None:
    environ = {"GIEOK_DATABASE_URL": "postgresql://u:hunter2@h/d", "GIEOK_ROOT_KEY": "k3y"}
    shown = repr(load_settings(environ, tmp_path))
    assert "hunter2" not in shown
    assert "k3y" not in shown
