"""`gieok doctor` finds problems, says how to fix them, and changes nothing."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest

from gieok import Gieok, __version__
from gieok.adapters.sql.driver.migrations import load_migrations
from gieok.adapters.sql.driver.sqlite import SqliteDatabase
from gieok.adapters.sql.scope import SqlView
from gieok.app import open_vault
from gieok.interfaces.cli.doctor import checks
from gieok.memory.jobs.records import JobDraft, JobOutcome
from gieok.settings import load_settings, setting_origins
from tests.cli.conftest import Run, Start, files_in, remember
from tests.postgres import Postgres
from tests.redis_server import RedisServer


def report(run: Run, **environ: str) -> dict[str, Any]:
    return json.loads(run("doctor", "--json", **environ).stdout)


def levels(found: dict[str, Any]) -> dict[str, str]:
    return {check["name"]: check["level"] for check in found["checks"]}


def finding(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(check for check in found["checks"] if check["name"] == name)


def test_a_new_machine_passes_and_no_file_is_created(start: Start, home: Path) -> None:
    done = start("doctor")
    assert (done.returncode, done.stderr) == (0, "")
    assert "does not exist yet" in done.stdout
    assert "All checks passed." in done.stdout
    assert files_in(home) == {}


def test_a_machine_in_use_passes_and_no_file_changes(run: Run, home: Path, url: str) -> None:
    remember("kim")
    before = files_in(home.parent)
    found = report(run)
    assert set(levels(found).values()) == {"ok"}
    assert {"database", "schema", "writing", "root_key", "keystore", "erasures"} <= set(levels(found))
    assert "1 owners, 2 keys, encrypted with AES-256-GCM" in finding(found, "keystore")["text"]
    assert files_in(home.parent) == before


def test_versions_and_settings_are_shown_with_their_origin(run: Run, home: Path) -> None:
    (home / "gieok.toml").write_text(f"keystore_url = 'sqlite:///{home}/keys.db'")
    found = report(run, GIEOK_DATABASE_URL=f"sqlite:///{home}/x.db")
    assert found["versions"]["gieok"] == __version__
    origins = {each["name"]: each["origin"] for each in found["settings"]}
    assert origins == {
        **dict.fromkeys(setting_origins({}, home / "elsewhere"), "default"),
        "database_url": "GIEOK_DATABASE_URL",
        "keystore_url": str(home / "gieok.toml"),
    }
    assert {"model", "embedder", "host", "jwt_issuer"} <= origins.keys()


def test_the_values_in_use_are_shown(run: Run) -> None:
    """The model that remembers is the model of the replies, unless another one is set."""

    def values(**environ: str) -> dict[str, str]:
        return {each["name"]: each["value"] for each in report(run, **environ)["settings"]}

    names = ("model", "memory_model", "timezone", "background")
    assert [values()[name] for name in names] == ["offline", "offline", "UTC", "true"]
    environ = {"GIEOK_MODEL": "openai:gpt", "GIEOK_MODEL_API_KEY": "a-key"}
    assert values(**environ)["memory_model"] == "openai:gpt"
    changed = values(
        **environ, GIEOK_MEMORY_MODEL="offline", GIEOK_TIMEZONE="Asia/Seoul", GIEOK_BACKGROUND="false"
    )
    assert [changed[name] for name in names] == ["openai:gpt", "offline", "Asia/Seoul", "false"]


def test_a_memory_model_that_cannot_be_opened_fails(run: Run) -> None:
    found = report(run, GIEOK_MEMORY_MODEL="openai:gpt", OPENAI_API_KEY="", GIEOK_MODEL_API_KEY="")
    assert levels(found)["model"] == "failed"
    assert "openai:gpt" in finding(found, "model")["text"]


def test_no_secret_is_shown(run: Run) -> None:
    key = base64.b64encode(os.urandom(32)).decode()
    for url in (
        "postgresql://me:not-to-be-seen@127.0.0.1:1/x",
        "postgresql://me@127.0.0.1:1/x?password=not-to-be-seen",
        "postgresql://me:not-to-be-seen/@?x@127.0.0.1:1/x",
        "password=not-to-be-seen host=127.0.0.1",
    ):
        done = run("doctor", GIEOK_DATABASE_URL=url, GIEOK_ROOT_KEY=key)
        assert done.exit_code == 1
        assert "not-to-be-seen" not in done.output
        assert key not in done.output


def test_an_unreachable_server_fails(run: Run) -> None:
    done = run("doctor", GIEOK_DATABASE_URL="postgresql://127.0.0.1:1/x")
    assert done.exit_code == 1
    assert "✗  database" in done.stdout
    assert "cannot be reached; start PostgreSQL" in done.stdout
    assert "✓  analyzer" in done.stdout  # a failed check does not stop the others


def test_an_older_schema_is_a_warning_and_is_not_migrated(run: Run, home: Path) -> None:
    file = home / "data" / "old.db"
    asyncio.run(SqliteDatabase(file, migrations=load_migrations("sqlite")[:1]).close())
    found = report(run, GIEOK_DATABASE_URL=f"sqlite:///{file}")
    assert found["ok"] is True
    assert levels(found)["schema"] == "warning"
    assert "gieok db upgrade" in finding(found, "schema")["remedy"]
    assert "writing" not in levels(found)
    assert not list(file.parent.glob("old.db.backup*"))


def test_a_file_of_another_program_fails(run: Run, home: Path) -> None:
    (home / "x.db").write_bytes(b"something else")
    found = report(run, GIEOK_DATABASE_URL=f"sqlite:///{home}/x.db")
    assert (found["ok"], levels(found)["database"]) == (False, "failed")


def test_a_path_that_cannot_be_created_fails(run: Run, home: Path) -> None:
    (home / "file").touch()
    found = report(run, GIEOK_DATABASE_URL=f"sqlite:///{home}/file/below/gieok.db")
    assert (found["ok"], levels(found)["database"]) == (False, "failed")
    assert "GIEOK_DATABASE_URL" in finding(found, "database")["remedy"]


@pytest.mark.parametrize("place", ["x" * 300, "x" * 300 + "/gieok.db"])
def test_a_file_name_that_is_too_long_fails(run: Run, home: Path, place: str) -> None:
    found = report(run, GIEOK_DATABASE_URL=f"sqlite:///{home}/{place}")
    assert (found["ok"], levels(found)["database"]) == (False, "failed")
    assert "File name too long" in finding(found, "database")["text"]


def test_invalid_settings_do_not_stop_the_other_checks(run: Run, home: Path) -> None:
    (home / "gieok.toml").write_text("database_url = ")
    found = report(run)
    assert found["ok"] is False
    assert levels(found)["settings"] == "failed"
    assert levels(found)["analyzer"] == "ok"


def test_a_misspelled_variable_is_a_warning(run: Run) -> None:
    found = report(run, GIEOK_DATABASE_ULR="sqlite:///x.db")
    assert found["ok"] is True
    assert levels(found)["variables"] == "warning"
    assert "did you mean 'GIEOK_DATABASE_URL'?" in finding(found, "variables")["text"]


@pytest.mark.req("OPS-2")
def test_a_wrong_root_key_fails(run: Run, url: str) -> None:
    remember("kim")
    found = report(run, GIEOK_ROOT_KEY=base64.b64encode(os.urandom(32)).decode())
    assert (found["ok"], levels(found)["keystore"]) == (False, "failed")
    assert "ROOT_KEY_MISMATCH" in finding(found, "keystore")["text"]


def test_a_root_key_that_others_can_read_fails(run: Run, home: Path) -> None:
    remember("kim")
    load_settings().own_key_file.chmod(0o644)
    found = report(run)
    assert (found["ok"], levels(found)["root_key"]) == (False, "failed")
    assert "chmod 600" in finding(found, "root_key")["text"]


def test_a_lost_root_key_fails_and_is_not_created_again(run: Run, home: Path) -> None:
    remember("kim")
    load_settings().own_key_file.unlink()
    found = report(run)
    assert (found["ok"], levels(found)["keystore"]) == (False, "failed")
    assert "root_key" not in levels(found)
    assert not load_settings().own_key_file.exists()


def test_a_secret_that_is_not_mounted_fails(run: Run, home: Path) -> None:
    found = report(run, GIEOK_ROOT_KEY_FILE=str(home / "not-there"))
    assert (found["ok"], levels(found)["root_key"]) == (False, "failed")


def test_a_lost_keystore_fails_and_is_not_created_again(run: Run, home: Path) -> None:
    remember("kim")
    keystore = Path(load_settings().keystore_url.removeprefix("sqlite:///"))
    keystore.unlink()
    found = report(run)
    assert (found["ok"], levels(found)["keystore"]) == (False, "failed")
    assert "restore the keystore" in finding(found, "keystore")["remedy"]
    assert not keystore.exists()


def test_the_keystore_of_another_database_fails(run: Run, home: Path) -> None:
    remember("kim")
    other = f"sqlite:///{home}/other/gieok.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIEOK_DATABASE_URL", other)
        remember("kim")
    found = report(run, GIEOK_KEYSTORE_URL=f"{other}.keys")
    assert (found["ok"], levels(found)["keystore"]) == (False, "failed")
    assert "belongs to another database" in finding(found, "keystore")["text"]


def test_a_pending_or_interrupted_rotation_is_a_warning(run: Run, home: Path) -> None:
    remember("kim")
    own = load_settings().own_key_file
    waiting = own.with_name(own.name + ".next")
    waiting.touch(mode=0o600)
    waiting.write_text(base64.b64encode(os.urandom(32)).decode())
    assert levels(report(run))["rotation"] == "warning"
    old = own.read_bytes()
    run("keys", "rotate", "--root")
    waiting.touch(mode=0o600)
    waiting.write_bytes(own.read_bytes())
    own.write_bytes(old)  # as if the process had stopped before it replaced the key file
    found = report(run)
    assert levels(found)["keystore"] == "warning"
    assert "was interrupted" in finding(found, "keystore")["text"]
    assert own.read_bytes() == old


@pytest.mark.req("OPS-3")
def test_an_unfinished_erasure_is_a_warning(run: Run, url: str) -> None:
    remember("kim")
    vault = open_vault(load_settings())
    vault.begin_erasure("kim")
    vault.close()
    found = report(run)
    assert found["ok"] is True
    assert levels(found)["erasures"] == "warning"
    assert "kim" not in json.dumps(found["checks"])
    remember("lee")  # opening Gieok finishes the erasure, as the remedy says
    assert levels(report(run))["erasures"] == "ok"


@pytest.mark.req("OPS-4")
def test_a_role_that_bypasses_row_security_is_a_warning(run: Run, home: Path, postgres: Postgres) -> None:
    name = postgres.new_database().rpartition("/")[2]
    admin = postgres.admin_url(name)
    run("db", "upgrade", GIEOK_DATABASE_URL=admin)
    found = report(run, GIEOK_DATABASE_URL=admin)
    assert levels(found)["row_security"] == "warning"
    assert "BYPASSRLS" in finding(found, "row_security")["remedy"]


def test_low_disk_space_is_a_warning_or_fails(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.disk_usage(home)
    for free, level in ((1024, "failed"), (200 * 1024**2, "warning")):
        monkeypatch.setattr(shutil, "disk_usage", Mock(return_value=real._replace(free=free)))
        assert levels(report(run))["disk"] == level


def test_a_clock_behind_the_database_is_a_warning(run: Run, home: Path) -> None:
    remember("kim")
    file = Path(load_settings().database_url.removeprefix("sqlite:///"))
    os.utime(file, (4_000_000_000, 4_000_000_000))
    assert levels(report(run))["clock"] == "warning"


def test_a_broken_analyzer_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_text: str) -> list[str]:
        return []

    monkeypatch.setattr(checks, "terms", nothing)
    done = run("doctor")
    assert done.exit_code == 1
    assert "✗  analyzer" in done.stdout


def test_korean(run: Run) -> None:
    done = run("doctor", "--lang", "ko")
    assert "모든 점검을 통과했습니다." in done.stdout
    assert "데이터베이스" in done.stdout
    assert "기본값" in done.stdout


def test_installed_integrations_are_listed(run: Run) -> None:
    listed = finding(report(run), "integrations")
    assert listed["level"] == "ok"
    assert re.search(r"\bmcp 2\.", listed["text"])
    assert re.search(r"\bpydantic-ai-slim 2\.", listed["text"])
    assert "gieok[pydantic" not in listed["text"]


def test_an_embedder_that_cannot_be_opened_fails(run: Run, home: Path) -> None:
    assert finding(report(run), "embedder")["level"] == "ok"
    found = report(run, GIEOK_EMBEDDER=f"onnx:{home}")
    assert finding(found, "embedder")["level"] == "failed"
    assert "has no file" in finding(found, "embedder")["text"]
    served = {"GIEOK_EMBEDDER": "openai:bge-m3@1024", "GIEOK_EMBEDDER_BASE_URL": "http://127.0.0.1:1/v1"}
    assert finding(report(run, **served), "embedder") == {
        "name": "embedder",
        "level": "ok",
        "text": "openai:bge-m3@1024 (http://127.0.0.1:1/v1)",
        "remedy": None,
    }


def test_near_words_are_shown_with_an_example(run: Run) -> None:
    pytest.importorskip("kiwipiepy_model", reason="pip install 'gieok[korean]'")
    assert finding(report(run), "near_words")["level"] == "ok"
    assert "면접 ~ " in finding(report(run, GIEOK_NEAR_WORDS="kiwi"), "near_words")["text"]


def test_failed_jobs_are_a_warning(run: Run, url: str) -> None:
    """Without names of users; the remedy lists them."""
    remember("kim")
    asyncio.run(_fail_a_job("kim"))
    failed = finding(report(run), "jobs")
    assert (failed["level"], failed["text"]) == ("warning", "failed: 1 walk")
    assert "gieok jobs list --all-users --status failed" in failed["remedy"]
    listed = json.loads(run("jobs", "list", "--all-users", "--status", "failed", "--json").stdout)
    assert [(job["owner"], job["kind"]) for job in listed["jobs"]] == [("kim", "walk")]
    assert "kim" in run("jobs", "list", "--all-users", "--status", "failed").stdout


async def _fail_a_job(owner: str) -> None:
    now = datetime.now(UTC)

    def fail(view: SqlView) -> None:
        job = JobDraft(id=uuid4(), kind="walk", subject="s", due_at=now)
        view.jobs.add(job, now)
        claimed = view.jobs.claim(job.id, now, now + timedelta(minutes=1))
        assert claimed
        view.jobs.settle(claimed, JobOutcome(status="failed", error="STEP_FAILED"))

    async with await Gieok.open(background=False) as gieok:
        await gieok.scope(owner).write(fail)


def test_a_cache_that_is_away_is_a_warning(run: Run) -> None:
    """Gieok works without it. The password is not shown."""
    done = run("doctor", "--json", GIEOK_CACHE_URL="redis://:not-to-be-seen@127.0.0.1:1/0")
    found = json.loads(done.stdout)
    assert (done.exit_code, finding(found, "cache")["level"]) == (0, "warning")
    assert "redis://@127.0.0.1:1/0 does not answer" in finding(found, "cache")["text"]
    assert "not-to-be-seen" not in done.stdout


def test_a_cache_shows_its_memory_and_keys(run: Run, redis_server: RedisServer) -> None:
    redis_server.admin.set("of another program", 1)
    found = finding(report(run, GIEOK_CACHE_URL=redis_server.url), "cache")
    assert found["level"] == "ok"
    assert re.search(r"Redis \d\S+, unix://\S+, \S+ \S+ of unlimited memory, 1 keys", found["text"])
    redis_server.fill_up()
    found = finding(report(run, GIEOK_CACHE_URL=redis_server.url), "cache")
    assert (found["level"], "allkeys-lru" in found["remedy"]) == ("warning", True)
