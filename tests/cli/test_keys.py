"""`gieok keys`, on both databases."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest

from gieok.settings import load_settings
from tests.cli.conftest import Run, files_in, recalled, remember


def new_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def test_status_before_the_first_use_creates_no_key(run: Run, home: Path, url: str) -> None:
    done = run("keys", "status")
    assert done.exit_code == 0
    assert "no keys yet" in done.stdout
    assert json.loads(run("keys", "status", "--json").stdout) == {"exists": False}
    assert files_in(home.parent) == {}


@pytest.mark.parametrize("option", [["--root"], ["--user", "kim"], ["--all-users"]])
def test_there_is_nothing_to_rotate_before_the_first_use(
    run: Run, home: Path, url: str, option: list[str]
) -> None:
    done = run("keys", "rotate", *option)
    assert done.exit_code == 1
    assert "no keys to rotate yet" in done.stderr
    assert files_in(home.parent) == {}


def test_status_shows_the_number_of_keys_and_their_place(run: Run, url: str) -> None:
    remember("kim", "lee")
    status = json.loads(run("keys", "status", "--json").stdout)
    assert (status["owners"], status["keys"], status["erased"]) == (2, 4, 0)
    assert str(load_settings().own_key_file) in run("keys", "status").stdout
    assert status["oldestKey"].endswith("Z")


@pytest.mark.parametrize("options", [[], ["--root", "--all-users"], ["--root", "--user", "kim"]])
def test_rotate_needs_exactly_one_target(run: Run, options: list[str]) -> None:
    done = run("keys", "rotate", *options)
    assert done.exit_code == 2
    assert "one of --root, --user NAME and --all-users" in done.stderr


@pytest.mark.req("OPS-2")
def test_a_new_root_key_leaves_everything_readable(run: Run, url: str) -> None:
    remember("kim")
    before = load_settings().own_key_file.read_bytes()
    done = json.loads(run("keys", "rotate", "--root", "--json").stdout)
    assert (done["keys"], done["finished"], done["nextStep"]) == (2, True, None)
    assert load_settings().own_key_file.read_bytes() != before
    assert json.loads(run("keys", "status", "--json").stdout)["rootId"] == done["newId"] != done["oldId"]
    assert recalled("kim") == 1


def test_after_a_rotation_a_backup_is_recommended(run: Run, url: str) -> None:
    remember("kim")
    assert "Back up" in run("keys", "rotate", "--root").stdout


@pytest.mark.req("OPS-2")
def test_a_new_data_key_leaves_everything_readable(run: Run, url: str) -> None:
    remember("kim", "lee")
    assert json.loads(run("keys", "rotate", "--user", "kim", "--json").stdout) == {"users": 1, "rows": 1}
    assert "rows resealed: 2" in run("keys", "rotate", "--all-users").stdout
    assert json.loads(run("keys", "status", "--json").stdout)["keys"] == 4
    assert (recalled("kim"), recalled("lee")) == (1, 1)


@pytest.mark.parametrize(
    ("user", "code"), [("nobody", "NOT_FOUND"), ("", "VALIDATION_FAILED"), ("a b", "VALIDATION_FAILED")]
)
def test_rotating_the_key_of_an_unknown_user_is_an_error(run: Run, url: str, user: str, code: str) -> None:
    remember("kim")
    done = run("keys", "rotate", "--user", user)
    assert done.exit_code == 1
    assert f"[{code}]" in done.stderr


def test_a_key_in_the_environment_is_replaced_by_the_operator(
    run: Run, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rotation prints the next step, and Gieok works before and after the operator has done it."""
    first, second = new_key(), new_key()
    monkeypatch.setenv("GIEOK_ROOT_KEY", first)
    remember("kim")
    refused = run("keys", "rotate", "--root")
    assert (refused.exit_code, "set GIEOK_ROOT_KEY_NEXT" in refused.stderr) == (1, True)
    monkeypatch.setenv("GIEOK_ROOT_KEY_NEXT", second)
    done = run("keys", "rotate", "--root")
    assert done.exit_code == 0
    assert "Next: set GIEOK_ROOT_KEY to the value of GIEOK_ROOT_KEY_NEXT" in done.stdout
    assert recalled("kim") == 1
    monkeypatch.setenv("GIEOK_ROOT_KEY", second)
    monkeypatch.delenv("GIEOK_ROOT_KEY_NEXT")
    assert run("keys", "status").exit_code == 0
    assert first not in done.output
    assert second not in done.output


def test_a_mounted_key_is_replaced_by_the_operator(
    run: Run, home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted = home / "secret"
    for file in (mounted, home / "secret.next"):
        file.touch(mode=0o600)
        file.write_text(new_key())
    monkeypatch.setenv("GIEOK_ROOT_KEY_FILE", str(mounted))
    remember("kim")
    done = run("keys", "rotate", "--root", "--lang", "ko")
    assert done.exit_code == 0
    assert f"새 키를 {mounted}" in done.stdout


def test_another_root_key_is_refused(run: Run, url: str) -> None:
    remember("kim")
    for command in (["status"], ["rotate", "--root"], ["rotate", "--user", "kim"]):
        done = run("keys", *command, GIEOK_ROOT_KEY=new_key())
        assert (done.exit_code, done.stdout) == (1, "")
        assert "[ROOT_KEY_MISMATCH]" in done.stderr


def test_a_key_that_others_can_read_is_refused(run: Run, url: str) -> None:
    remember("kim")
    load_settings().own_key_file.chmod(0o640)
    done = run("keys", "status")
    assert done.exit_code == 1
    assert "chmod 600" in done.stderr


def test_a_lost_key_is_not_created_again(run: Run, home: Path, url: str) -> None:
    remember("kim")
    load_settings().own_key_file.unlink()
    done = run("keys", "rotate", "--root")
    assert done.exit_code == 1
    assert "[ROOT_KEY_MISSING]" in done.stderr
    assert not load_settings().own_key_file.exists()


def test_without_a_keystore_there_is_no_root_key_to_rotate(run: Run, url: str) -> None:
    """No key is created: it would get in the way of restoring a lost keystore."""
    done = run("keys", "rotate", "--root")
    assert (done.exit_code, "[NOT_FOUND]" in done.stderr) == (1, True)
    assert not load_settings().own_key_file.exists()
    assert not json.loads(run("keys", "status", "--json").stdout)["exists"]


def test_a_weak_key_is_refused_without_showing_it(run: Run, url: str) -> None:
    remember("kim")
    weak = base64.b64encode(bytes(32)).decode()
    done = run("keys", "status", GIEOK_ROOT_KEY=weak)
    assert done.exit_code == 1
    assert "[ROOT_KEY_UNSAFE]" in done.stderr
    assert weak not in done.stderr
