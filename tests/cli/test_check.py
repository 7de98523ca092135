"""`gieok check`, on both databases."""

from __future__ import annotations

import json

import pytest

from gieok.settings import load_settings
from tests.behind import Behind
from tests.cli.conftest import Run, recalled, remember


@pytest.fixture
def behind(url: str, request: pytest.FixtureRequest) -> Behind:
    settings = load_settings()
    server = None if url.startswith("sqlite:") else request.getfixturevalue("postgres")
    return Behind(settings, server, settings.own_key_file.parent)


def test_a_database_without_damage(run: Run, url: str) -> None:
    remember("kim", "lee")
    done = run("check")
    assert done.exit_code == 0
    assert "users: 2" in done.stdout
    assert "no damage" in done.stdout
    assert json.loads(run("check", "--json", "--user", "kim").stdout)["owners"] == 1


def test_damage_is_reported_and_repaired(run: Run, url: str, behind: Behind) -> None:
    remember("kim")
    behind.run("UPDATE turn_memories SET terms = substr(terms, 1, 12)")
    found = run("check")
    assert found.exit_code == 1
    assert "turn_memories" in found.stdout
    assert "--repair can rebuild it" in found.stdout
    assert not recalled("kim")
    done = run("check", "--repair", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["ok"]
    assert [(each["kind"], each["isRepaired"]) for each in report["damage"]] == [("index", True)]
    assert recalled("kim")
    assert run("check").exit_code == 0


def test_what_cannot_be_repaired_fails(run: Run, url: str, behind: Behind) -> None:
    remember("kim")
    behind.run("UPDATE turn_memories SET id = " + behind.literal(bytes(16)))
    done = run("check", "--repair", "--lang", "ko")
    assert done.exit_code == 1
    assert "암호화된 값을 열 수 없습니다" in done.stdout
    assert "백업에서 복원하세요" in done.stdout


def test_a_wrong_option_is_wrong_usage(run: Run) -> None:
    assert run("check", "--fix").exit_code == 2
