"""`gieok token` and `gieok audit`, on both databases."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest

from gieok import Gieok
from gieok.access import Principal, Scope
from gieok.errors import Unauthenticated
from gieok.interfaces.cli.token import PLANS, SCOPES
from gieok.memory.fields import AccountPlan
from tests.cli.conftest import Run


def caller(token: str) -> Principal:
    """The principal of a token."""

    async def ask() -> Principal:
        async with await Gieok.open() as gieok:
            return await gieok.tokens.authenticate(token)

    return asyncio.run(ask())


def run_json(run: Run, *args: str) -> Any:
    done = run(*args, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_options_offer_the_values_of_the_records() -> None:
    assert (get_args(AccountPlan), get_args(Scope)) == (PLANS, SCOPES)


def test_create_list_and_revoke_as_json(run: Run, url: str) -> None:
    created = run_json(run, "token", "create", "--user", "kim", "--plan", "premium", "--scope", "read")
    token = created.pop("token")
    assert (created["owner"], created["accountPlan"], created["scopes"]) == ("kim", "premium", ["read"])
    assert created["createdAt"].endswith("Z")
    assert caller(token).scopes == {"read"}
    assert run_json(run, "token", "list") == {"tokens": [created]}
    assert run_json(run, "token", "list", "--user", "lee") == {"tokens": []}
    assert run_json(run, "token", "revoke", created["id"])["revokedAt"]
    with pytest.raises(Unauthenticated):
        caller(token)


def test_create_prints_the_token_once(run: Run, url: str) -> None:
    done = run("token", "create", "--user", "민수", "--label", "노트북", "--expires-days", "30")
    assert done.exit_code == 0
    token = next(word for word in done.stdout.split() if word.startswith("gk_"))
    assert caller(token).owner == "민수"
    assert "cannot be shown again" in done.stdout
    listed = run("token", "list").stdout
    assert token not in listed
    assert all(word in listed for word in ("민수", "노트북", "read, write, owner", "valid until"))
    assert "까지 유효" in run("token", "list", "--lang", "ko").stdout


def test_list_shows_revoked_tokens(run: Run, url: str) -> None:
    created = run_json(run, "token", "create", "--user", "kim")
    assert f"revoked token {created['id']} of kim" in run("token", "revoke", created["id"]).stdout
    assert "revoked 20" in run("token", "list").stdout


def test_list_without_tokens(run: Run, url: str) -> None:
    assert run("token", "list").stdout == "no tokens\n"


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["create"], 2, "--user"),
        (["create", "--user", "kim", "--plan", "gold"], 2, "--plan"),
        (["create", "--user", "kim", "--scope", "root"], 2, "--scope"),
        (["create", "--user", "kim", "--expires-days", "0"], 2, "--expires-days"),
        (["create", "--user", "a b"], 1, "[VALIDATION_FAILED]"),
        (["create", "--user", "kim", "--label", ""], 1, "[VALIDATION_FAILED]"),
        (["revoke", "nonsense"], 2, "UUID"),
        (["revoke", str(uuid4())], 1, "[NOT_FOUND]"),
    ],
)
def test_invalid_arguments_are_an_error(run: Run, args: list[str], status: int, message: str) -> None:
    done = run("token", *args)
    assert (done.exit_code, done.stdout) == (status, "")
    assert message in done.stderr


def test_the_audit_trail_is_shown_newest_first(run: Run, url: str) -> None:
    created = run_json(run, "token", "create", "--user", "kim")
    run("token", "revoke", created["id"])
    entries = run_json(run, "audit", "--user", "kim")["entries"]
    assert [each["action"] for each in entries] == ["token.revoked", "token.created"]
    assert {each["subject"] for each in entries} == {created["id"]}
    assert run_json(run, "audit", "--user", "kim", "--before", entries[0]["id"])["entries"] == entries[1:]
    assert run_json(run, "audit", "--user", "kim", "--limit", "1")["entries"] == entries[:1]
    shown = run("audit", "--user", "kim").stdout.splitlines()
    assert ("token.revoked" in shown[1], "token.created" in shown[2]) == (True, True)
    assert run("audit", "--user", "lee").stdout == "no entries\n"


def test_tokens_need_no_language_model(run: Run) -> None:
    """A configured model is not loaded, so that its missing key does not matter."""
    environ = {"GIEOK_MODEL": "openai:gpt", "OPENAI_API_KEY": "", "GIEOK_MODEL_API_KEY": ""}
    assert run("token", "create", "--user", "ana", **environ).exit_code == 0
    assert run("token", "list", **environ).exit_code == 0


def test_creating_a_token_does_not_load_the_model_library(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings name a provider; its library takes seconds to load, and a token needs no model."""
    monkeypatch.setenv("GIEOK_MODEL", "openai:gpt-4o")
    code = """
import sys
from click.testing import CliRunner
from gieok.interfaces.cli import main
done = CliRunner().invoke(main, ["token", "create", "--user", "kim"])
print(done.exit_code, sorted({"pydantic_ai", "openai", "anthropic"} & set(sys.modules)))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "0 []\n"
