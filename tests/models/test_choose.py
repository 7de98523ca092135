"""Which model the settings choose, and the errors when it cannot be used."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gieok.adapters.models.choose import choose_model
from gieok.adapters.models.offline import OfflineModel
from gieok.adapters.models.remote.model import RemoteModel
from gieok.errors import SettingsInvalid
from gieok.memory.companion.records import Spoken
from gieok.memory.model_calls import Meter, ModelLimits
from gieok.settings import load_settings
from gieok.settings.sections import parse_model
from gieok.testing.model_server import ModelServer
from gieok.testing.settings import settings_for


@pytest.mark.parametrize(
    ("model", "base_url", "expected"),
    [
        ("google:gemini-3-flash", None, ("google", "gemini-3-flash")),
        ("anthropic:claude", "https://proxy.example", ("anthropic", "claude")),
        ("openai:llama3.2:3b", "http://localhost:11434/v1", ("openai", "llama3.2:3b")),
        ("llama3.2:3b", "http://localhost:11434/v1", ("openai", "llama3.2:3b")),
    ],
)
def test_the_provider_and_model_of_a_setting(
    model: str, base_url: str | None, expected: tuple[str, str]
) -> None:
    assert parse_model(model, base_url) == expected


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"GIEOK_MODEL": "mistral:large"}, "'google:MODEL', 'openai:MODEL', 'anthropic:MODEL'"),
        ({"GIEOK_MODEL": "openai:"}, "'openai:' is unknown"),
        ({"GIEOK_MODEL_BASE_URL": "http://localhost:8080/v1"}, "set GIEOK_MODEL"),
        ({"GIEOK_MODEL": "openai:x", "GIEOK_MODEL_BASE_URL": "localhost:8080"}, "begin with http"),
    ],
)
def test_an_unknown_model_is_refused_at_start_up(
    tmp_path: Path, environ: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsInvalid, match=message):
        load_settings(environ, tmp_path)


def test_a_key_comes_from_the_environment_and_is_never_shown(tmp_path: Path) -> None:
    environ = {"GIEOK_MODEL": "openai:x", "OPENAI_API_KEY": "s3cret", "ANTHROPIC_API_KEY": "other"}
    settings = load_settings(environ, tmp_path)
    assert dict(settings.secrets) == {"OPENAI_API_KEY": "s3cret"}
    assert "s3cret" not in repr(settings)
    (tmp_path / "gieok.toml").write_text('model_api_key = "s3cret"\n')
    with pytest.raises(SettingsInvalid, match="not a setting"):
        load_settings({}, tmp_path)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    settings = replace(settings_for("sqlite:///x.db", tmp_path / "k"), model="google:x")
    with pytest.raises(SettingsInvalid, match="GOOGLE_API_KEY or GEMINI_API_KEY or GIEOK_MODEL_API_KEY"):
        choose_model(settings)


def test_a_missing_library_is_named_with_the_extra_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.anthropic", None)
    settings = replace(
        settings_for("sqlite:///x.db", tmp_path / "k"),
        model="anthropic:x",
        secrets={"ANTHROPIC_API_KEY": "k"},
    )
    with pytest.raises(SettingsInvalid, match=r"pip install 'gieok\[anthropic\]'"):
        choose_model(settings)


def test_the_default_is_the_offline_model(tmp_path: Path) -> None:
    assert isinstance(choose_model(settings_for("sqlite:///x.db", tmp_path / "k")), OfflineModel)


async def test_a_self_hosted_server_needs_no_key_and_never_gets_the_providers_key(
    tmp_path: Path, server: ModelServer
) -> None:
    environ = {
        "GIEOK_MODEL": "openai:x",
        "GIEOK_MODEL_BASE_URL": server.url("openai"),
        "OPENAI_API_KEY": "s3cret",
    }
    chosen = choose_model(load_settings(environ, tmp_path))
    assert isinstance(chosen, RemoteModel)
    limits = ModelLimits(max_output_tokens=100, attempts=1, attempt_seconds=30, backoff_seconds=(0,))
    said = [Spoken(role="user", content="내일 면접이 있어")]
    await chosen.metered(Meter(limits)).summarize_session(said)
    await chosen.close()
    assert [request.key == "s3cret" for request in server.requests] == [False]
