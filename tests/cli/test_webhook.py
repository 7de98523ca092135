"""`gieok webhook`, and the outbox in `gieok doctor`."""

from __future__ import annotations

import json
from typing import Any

from click.testing import Result

from tests.cli.conftest import Run
from tests.cli.test_memory import remember

URL = "https://hooks.invalid/gieok"


def test_webhooks_are_added_listed_and_removed(run: Run, url: str) -> None:
    def webhook(*args: str) -> Result:
        return run("webhook", *args, "--user", "kim")

    def document(*args: str) -> Any:
        done = webhook(*args, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    assert "no webhooks" in webhook("list", "--lang", "en").stdout
    added = document("add", URL, "--events", "memory.created, fact.set", "--include-content")
    assert added["secret"].startswith("whsec_")
    webhook_id = added["webhook"]["id"]
    (listed,) = document("list")["webhooks"]
    assert (listed["url"], listed["events"], listed["includeContent"]) == (
        URL,
        ["memory.created", "fact.set"],
        True,
    )
    table = webhook("list").stdout
    assert URL in table
    assert added["secret"] not in table
    assert document("failed", webhook_id) == {"deadLetters": []}
    assert document("retry", webhook_id) == {"retried": 0}
    assert document("remove", webhook_id) == {"removed": webhook_id}
    assert webhook("remove", webhook_id).exit_code == 1
    shown = webhook("add", URL).stdout
    assert "whsec_" in shown


def test_what_is_refused_changes_nothing(run: Run, url: str) -> None:
    for args in (["http://example.com/"], ["https://127.0.0.1/"], [URL, "--events", "memory.eaten"]):
        refused = run("webhook", "add", *args, "--user", "kim")
        assert refused.exit_code == 1
        assert "VALIDATION_FAILED" in refused.output
    assert json.loads(run("webhook", "list", "--user", "kim", "--json").stdout) == {"webhooks": []}


def test_doctor_shows_the_outbox(run: Run, url: str) -> None:
    def outbox() -> dict[str, Any]:
        checks = json.loads(run("doctor", "--json", "--lang", "en").stdout)["checks"]
        return next(each for each in checks if each["name"] == "events")

    remember("kim")
    assert outbox()["text"] == "no consumer"
    assert run("webhook", "add", URL, "--user", "kim").exit_code == 0
    assert outbox()["text"].startswith("1 consumers, 0 events wait")
