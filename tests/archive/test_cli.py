"""`gieok archive`, `gieok doctor` and the service, with an archive and without."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from gieok import Gieok, Settings
from gieok.adapters.mongo import archive
from gieok.app.background.worker import Worker
from gieok.errors import SettingsInvalid
from gieok.interfaces.rest.app import ServiceOptions
from gieok.settings import ArchiveSettings, load_settings
from gieok.testing.clock import Clock
from tests.archive.world import fill
from tests.cli.conftest import Run, home, run, url
from tests.mongo import Mongo
from tests.rest.conftest import Server

__all__ = ["home", "run", "url"]
NOWHERE = "mongodb://ana:secret@127.0.0.1:9/gieok?timeoutMS=500"


def store(*owners: str, deliver: bool = True) -> None:
    """Store messages and memories with the settings of the environment, and deliver their events."""

    async def work() -> None:
        async with await Gieok.open(background=False) as gieok:
            for owner in owners:
                await fill(gieok, owner, Clock())
            if deliver:
                worker = Worker(gieok)
                while await worker.run_once(datetime.now(UTC)):
                    pass

    asyncio.run(work())


def shown(output: str) -> dict[str, Any]:
    return json.loads(output)


def test_status_verify_and_restore(
    run: Run, url: str, archive_url: str, mongo: Mongo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIEOK_ARCHIVE_URL", archive_url)
    store("ana", "bora")
    status = shown(run("archive", "status", "--json").stdout)
    assert (status["isReachable"], status["messages"], status["undelivered"]) == (True, 16, 0)
    assert run("archive", "verify").exit_code == 0
    with mongo.client() as client:
        name = archive_url.rpartition("/")[2].partition("?")[0]
        client[name]["chat_messages"].delete_one({"_id.owner": "bora", "_id.seq": 2})
    assert run("archive", "verify", "--user", "ana").exit_code == 0
    found = run("archive", "verify", "--lang", "ko")
    assert found.exit_code == 1
    assert "bora" in found.stdout
    assert "아카이브에 없습니다" in found.stdout
    differences = shown(run("archive", "verify", "--json").stdout)["differences"]
    assert [(each["row"], each["problem"]) for each in differences] == [("s1 2", "missing")]
    assert shown(run("archive", "restore", "--json").stdout) == {
        **{"texts": 0, "messages": 0, "summaries": 0},
        "skipped": 0,
    }
    assert run("archive", "verify").exit_code == 0
    assert run("archive", "detach").exit_code == 1
    assert shown(run("archive", "detach", "--json", GIEOK_ARCHIVE_URL="").stdout) == {"owners": 2}


def test_an_archive_that_is_away(run: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else fails, undelivered events are counted, and no password is shown."""
    monkeypatch.setenv("GIEOK_ARCHIVE_URL", NOWHERE)
    store("ana", deliver=False)
    away = run("archive", "status", "--json")
    assert away.exit_code == 1
    assert shown(away.stdout)["undelivered"] > 0
    assert "cannot be reached" in run("archive", "verify").output
    doctor = run("doctor")
    assert "cannot be reached" in doctor.stdout
    assert run("check").exit_code == 0
    assert "secret" not in away.output + doctor.output + run("archive", "status").output


def test_without_an_archive_it_says_what_to_set(run: Run, url: str) -> None:
    assert "GIEOK_ARCHIVE_URL" in run("archive", "status").output
    assert run("archive", "verify").exit_code == 2


def test_doctor_shows_the_archive_and_misses_it(
    run: Run, url: str, archive_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIEOK_ARCHIVE_URL", archive_url)
    store("ana")
    assert "MongoDB 6" in run("doctor").stdout
    monkeypatch.delenv("GIEOK_ARCHIVE_URL")
    missed = run("doctor")
    assert missed.exit_code == 1
    assert "GIEOK_ARCHIVE_URL is not set" in missed.stdout


def test_the_service_is_ready_without_mongodb(settings: Settings) -> None:
    """Its requests work too."""
    server = Server(replace(settings, archive=ArchiveSettings(NOWHERE)), ServiceOptions())
    try:
        assert httpx.get(server.url + "/readyz").status_code == 200
        with server.client("ana") as client:
            assert client.get("/api/v1/sessions").status_code == 200
    finally:
        server.close()


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"GIEOK_ARCHIVE_URL": "redis://127.0.0.1"}, "must begin with mongodb"),
        ({"GIEOK_ARCHIVE_MESSAGES_AFTER_DAYS": "9"}, "needs an archive"),
        (
            {"GIEOK_ARCHIVE_URL": NOWHERE, "GIEOK_ARCHIVE_MESSAGES_AFTER_DAYS": "-1"},
            "a whole number of days",
        ),
    ],
)
def test_wrong_settings_are_refused(tmp_path: Path, environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsInvalid, match=message) as caught:
        load_settings(environ, tmp_path)
    assert "secret" not in str(caught.value)


def test_settings_do_not_show_the_url(tmp_path: Path) -> None:
    settings = load_settings({"GIEOK_ARCHIVE_URL": NOWHERE}, tmp_path)
    assert settings.archive.archive_url == NOWHERE
    assert "secret" not in repr(settings)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        """As `find_spec` for a package that is not installed."""

    monkeypatch.setattr(archive, "find_spec", missing)
    with pytest.raises(SettingsInvalid, match="pip install 'gieok\\[mongodb\\]'"):
        archive.open_mongo(NOWHERE)
