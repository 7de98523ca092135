"""`gieok document`: the documents of a user on the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Run

pytestmark = pytest.mark.req("INT-3")
NOTE: dict[str, Any] = {"text": "내일 회사 면접이 있다", "rating": 5}


def test_a_document_is_put_shown_searched_and_deleted(run: Run, url: str) -> None:
    def document(*args: str, **options: Any) -> Any:
        return run("document", *args, "--user", "kim", **options)

    assert "no documents" in document("list").stdout
    put = document("put", "notes/work", "interview", "-", stdin=json.dumps(NOTE).encode())
    assert "saved notes/work interview (v1)" in put.stdout
    document("put", "notes/home", "tea", '{"text": "green tea"}', "--index", "text", "--ttl", "60")
    assert json.loads(document("show", "notes/work", "interview").stdout) == NOTE
    listed = json.loads(document("list", "notes", "--json").stdout)["documents"]
    assert [each["key"] for each in listed] == ["tea", "interview"]
    found = document("search", "면접은 언제?", "--namespace", "notes/work").stdout
    assert "interview" in found
    none = document("search", "면접", "--filter", '{"rating": {"$gt": 5}}').stdout
    assert "no documents" in none
    document("put", "notes/work", "interview", '{"text": "done"}')
    history = json.loads(document("show", "notes/work", "interview", "--history", "--json").stdout)
    assert [each["value"] for each in history["versions"]] == [NOTE, {"text": "done"}]
    assert "deleted" in document("delete", "notes/work", "interview", "--yes").stdout
    for args in (("show",), ("show", "--history"), ("delete", "--yes")):
        gone = document(args[0], "notes/work", "interview", *args[1:])
        assert (gone.exit_code, "NOT_FOUND" in gone.stderr) == (1, True)


@pytest.mark.parametrize("value", ["[1]", "no json", '"text"'])
def test_a_value_that_is_no_object_is_wrong_usage(run: Run, url: str, value: str) -> None:
    refused = run("document", "put", "notes", "a", value, "--user", "kim")
    assert (refused.exit_code, "JSON" in refused.stderr) == (2, True)


def test_other_users_have_other_documents(run: Run, url: str) -> None:
    run("document", "put", "notes", "a", "{}", "--user", "kim")
    assert "no documents" in run("document", "list", "--user", "lee").stdout
    assert "문서가 없습니다" in run("document", "list", "--user", "lee", "--lang", "ko").stdout
