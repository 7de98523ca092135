"""The page `operator`: jobs of all owners and their counts, for operators only, without content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from gieok.interfaces.console.pages.operator import PAGE_SIZE
from tests.console.conftest import Browser, text_of
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api
from tests.rest.test_operator import fail_job

Browse = Callable[..., Browser]


@pytest.fixture
def operator(shared: Server, browse: Browse) -> Browser:
    return browse(shared.token(f"operator-{uuid4()}", scopes=["operator"]))


@pytest.fixture
def operator_api(shared: Server) -> Iterator[Api]:
    with shared.client(f"operator-{uuid4()}", scopes=["operator"]) as client:
        yield Api(client)


def both(browser: Browser, api: Api, page: str, call: str) -> tuple[str, dict[str, Any]]:
    """A page and the answer of the API, of one moment: jobs of other tests may run meanwhile."""
    for _ in range(50):
        before, html, after = api.call("GET", call), browser.get(page), api.call("GET", call)
        if before == after:
            return html, after
    raise AssertionError("jobs change all the time")


def jobs_in(page: str) -> list[str]:
    return re.findall(r'id="job-([0-9a-f-]{36})"', page)


@pytest.mark.req("OPS-4")
def test_it_shows_what_the_api_returns_in_pages(
    shared: Server, operator: Browser, operator_api: Api, owner: str
) -> None:
    for number in range(PAGE_SIZE // 2 + 1):
        fail_job(shared, owner, f"비밀{number}")
    for status in ("", "failed", "queued"):
        query = f"limit={PAGE_SIZE}&status={status}" if status else f"limit={PAGE_SIZE}"
        page, body = both(operator, operator_api, f"/operator?status={status}", f"/operator/jobs?{query}")
        assert jobs_in(page) == [job["id"] for job in body["jobs"]]
        assert "비밀" not in page
    page = operator.get("/operator")
    link = re.search(r'href="/console(/operator\?[^"]*cursor=([^"]*))"', page)
    assert link
    call = f"/operator/jobs?limit={PAGE_SIZE}&cursor={link[2]}"
    second, body = both(operator, operator_api, link[1].replace("&amp;", "&"), call)
    assert jobs_in(second) == [job["id"] for job in body["jobs"]]
    assert not set(jobs_in(second)) & set(jobs_in(page))


def test_the_counts_are_those_of_the_api(
    shared: Server, operator: Browser, operator_api: Api, owner: str
) -> None:
    fail_job(shared, owner, "s")
    statuses = ("queued", "running", "done", "failed")
    page, body = both(operator, operator_api, "/operator", "/operator/jobs")
    shown: dict[tuple[str, str], int] = {}
    for kind, row in re.findall(r'id="count-(\w+)">(.*?)</tr>', page):
        numbers = re.findall(r"<td[^>]*>([\d,]+)</td>", row)
        shown |= {
            (kind, status): int(number.replace(",", ""))
            for status, number in zip(statuses, numbers, strict=True)
        }
    assert {key: count for key, count in shown.items() if count} == {
        (each["kind"], each["status"]): each["count"] for each in body["counts"]
    }


def test_an_operator_comes_here_first_and_is_offered_nothing_else(operator: Browser) -> None:
    assert operator.http.get("/console").headers["location"] == "/console/operator"
    page = operator.get("/operator")
    assert re.findall(r'<li><a href="(/console/\w+)"', page) == ["/console/operator"]


def test_an_owner_may_not_see_it(browser: Browser) -> None:
    browser.get("/operator", 403)
    assert "/console/operator" not in browser.get("/memories")


def test_it_is_in_korean_too(operator: Browser) -> None:
    operator.http.post("/console/preferences", data={"language": "ko", "next": "/console"})
    assert "모든 사용자의 백그라운드 작업" in text_of(operator.get("/operator"))
