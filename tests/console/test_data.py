"""The page `data`: usage, audit, export, import after a preview, and erasure with the name typed in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from uuid import uuid4

import httpx
import pytest

from tests.console.conftest import COOKIE, Browser, text_of
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api

HTMX = {"HX-Request": "true"}


def export(browser: Browser) -> bytes:
    answer = browser.post("/data/export", status=200)
    assert answer.headers["content-disposition"] == 'attachment; filename="gieok-export.ndjson"'
    return answer.content


def upload(browser: Browser, content: bytes, status: int, **fields: str) -> httpx.Response:
    """Choose this file in the form. `headers` of htmx are sent where `htmx` is given."""
    headers = HTMX if fields.pop("htmx", "") else {}
    answer = browser.http.post(
        "/console/data/import",
        data={"csrf": browser.csrf, **fields},
        files={"file": ("export.ndjson", content, "application/x-ndjson")},
        headers=headers,
    )
    assert answer.status_code == status, answer.text
    return answer


def records(content: bytes) -> list[dict[str, object]]:
    """The records of an export without those that every export has."""
    lines = [json.loads(line) for line in content.splitlines()]
    return [line for line in lines if line["kind"] not in ("gieok", "end", "audit")]


def test_the_export_is_that_of_the_api(browser: Browser, api: Api) -> None:
    api.memory(api.persona(), "면접을 앞두고 있음")
    ours, theirs = export(browser), api.http.get("/api/v1/me/export").content
    assert records(ours) == records(theirs)
    assert any(record["kind"] == "memory" for record in records(ours))


def test_usage_is_that_of_the_facade(shared: Server, browser: Browser, api: Api, owner: str) -> None:
    assert "No language model was used" in browser.get("/data")
    api.post("/chat/send", {"personaId": api.persona(), "message": "안녕, 내일 면접이 있어"})
    (day,) = shared.run(shared.gieok.user(owner).usage(30))
    page = text_of(browser.get("/data"))
    numbers = f"{day.calls:,} {day.input_tokens:,} {day.output_tokens:,} {day.tokens:,}"
    assert f"{day.day.isoformat()} {numbers}" in page
    assert f"Total {numbers}" in page


def test_the_audit_trail_is_shown_in_pages(shared: Server, browser: Browser, owner: str) -> None:
    for _ in range(30):
        shared.token(owner)
    entries = [str(each.id) for each in shared.run(shared.gieok.user(owner).audit.list(100))]
    first = browser.get("/data")
    assert "Token created" in first
    assert re.findall(r'id="audit-([0-9a-f-]{36})"', first) == entries[:25]
    second = browser.get(f"/data?before={entries[24]}")
    assert re.findall(r'id="audit-([0-9a-f-]{36})"', second) == entries[25:]
    browser.get(f"/data?before={uuid4()}", 404)


def test_an_import_is_shown_first_and_needs_the_same_file(
    shared: Server, browser: Browser, api: Api, browse: Callable[..., Browser]
) -> None:
    """The preview adds nothing and says what the import adds then."""
    api.memory(api.persona(), "면접을 앞두고 있음")
    content = export(browser)
    name = f"other-{uuid4()}"
    other = browse(shared.token(name))
    with shared.client(name) as client:
        theirs = Api(client)
        fragment = upload(other, content, 200, htmx="yes").text
        assert not fragment.startswith("<!doctype")
        page = upload(other, content, 200).text
        assert theirs.get("/memory/list")["memories"] == []
        shown = dict(re.findall(r'data-kind="([\w.]+)"><th scope="row">\S+</th><td>([\d,]+)', page))
        assert shown == dict(
            re.findall(r'data-kind="([\w.]+)"><th scope="row">\S+</th><td>([\d,]+)', fragment)
        )
        found = re.search(r'name="digest" value="([0-9a-f]{64})"', page)
        assert found
        changed = content.replace("면접".encode(), "시험".encode())
        refused = upload(other, changed, 422, confirmed="yes", digest=found[1]).text
        assert "another file" in refused
        assert theirs.get("/memory/list")["memories"] == []
        done = upload(other, content, 303, confirmed="yes", digest=found[1])
        assert f"count={sum(int(count) for count in shown.values())}" in done.headers["location"]
        (memory,) = theirs.get("/memory/list")["memories"]
        assert memory["summary"] == "면접을 앞두고 있음"
        assert shown["memory"] == "1"
        assert "everything exists already" in upload(other, content, 200).text


@pytest.mark.parametrize("content", [b"", b"{}", b"not json\n", b'{"kind": "gieok", "format": 1}\n'])
def test_a_wrong_file_is_named_beside_its_field(browser: Browser, content: bytes) -> None:
    assert 'id="error-file"' in upload(browser, content, 422).text


def test_a_conflict_is_shown_in_the_preview(browser: Browser, api: Api) -> None:
    """A record that exists with other content."""
    memory = api.memory(api.persona(), "처음")
    content = export(browser)
    api.call("PATCH", f"/memory/{memory['id']}", json={"summary": "나중"})
    assert 'id="error-file"' in upload(browser, content, 422).text
    assert api.get(f"/memory/{memory['id']}")["memory"]["summary"] == "나중"


@pytest.mark.parametrize("typed", ["", "x", "OWNER"])
def test_nothing_is_erased_without_the_name(browser: Browser, api: Api, owner: str, typed: str) -> None:
    memory = api.memory(api.persona(), "그대로")
    given = owner.upper() if typed == "OWNER" else typed
    assert 'id="error-name"' in browser.post("/data/erase", {"name": given}, 422).text
    assert api.get(f"/memory/{memory['id']}")["memory"]["summary"] == "그대로"


def test_everything_is_erased_with_the_name_and_the_browser_is_signed_out(
    browser: Browser, api: Api, owner: str
) -> None:
    api.memory(api.persona(), "지울 것")
    answer = browser.post("/data/erase", {"name": owner}, 200)
    assert "Everything is erased" in answer.text
    assert "지울 것" not in answer.text
    assert re.search(rf'{COOKIE}="?"?;', answer.headers["set-cookie"])
    assert browser.http.get("/console/data").status_code == 303
    api.get("/memory/list", 401)


def test_only_the_owner_scope_opens_it(shared: Server, browse: Callable[..., Browser], owner: str) -> None:
    writer = browse(shared.token(owner, scopes=["read", "write"]))
    assert "/console/data" not in writer.get("/memories")
    writer.get("/data", 403)
    for path in ("/data/export", "/data/import", "/data/erase"):
        writer.post(path, {"name": owner}, 403)
