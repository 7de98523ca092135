"""A browser without JavaScript: it signs in, reads pages and submits their forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from html import unescape
from uuid import uuid4

import httpx
import pytest

from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api, shared

__all__ = ["shared"]

COOKIE = "gieok_console"


class Browser:
    """One signed-in browser. It does not follow redirects, so that a test sees each answer."""

    def __init__(self, client: httpx.Client) -> None:
        self.http = client

    def sign_in(self, token: str) -> httpx.Response:
        return self.http.post("/console/sign-in", data={"token": token})

    def get(self, path: str, status: int = 200, **headers: str) -> str:
        """The HTML of a page."""
        answer = self.http.get(f"/console{path}", headers=headers)
        assert answer.status_code == status, answer.text
        return answer.text

    def post(
        self,
        path: str,
        fields: Mapping[str, str | list[str]] | None = None,
        status: int = 303,
        **headers: str,
    ) -> httpx.Response:
        """Submit a form of the console."""
        answer = self.http.post(
            f"/console{path}", data={"csrf": self.csrf, **(fields or {})}, headers=headers
        )
        assert answer.status_code == status, answer.text
        return answer

    @property
    def csrf(self) -> str:
        """The value that the forms of this session carry."""
        found = re.search(r'name="csrf" value="([0-9a-f]{64})"', self.get("/memories"))
        assert found
        return found[1]


def text_of(html: str) -> str:
    """The visible text of a page, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@pytest.fixture
def browse(shared: Server) -> Iterator[Callable[..., Browser]]:
    """Open a browser, signed in with this token or not at all."""
    with ExitStack() as stack:

        def open_browser(token: str | None = None) -> Browser:
            client = httpx.Client(
                base_url=shared.url, timeout=30, verify=False, headers={"Accept-Language": "en"}
            )
            browser = Browser(stack.enter_context(client))
            if token is not None:
                assert browser.sign_in(token).status_code == 303
            return browser

        yield open_browser


@pytest.fixture
def owner() -> str:
    return f"owner-{uuid4()}"


@pytest.fixture
def api(shared: Server, owner: str) -> Iterator[Api]:
    """The API for the same owner as `browser`."""
    with shared.client(owner, "premium") as client:
        yield Api(client)


@pytest.fixture
def browser(shared: Server, owner: str, browse: Callable[..., Browser]) -> Browser:
    """A browser of a new owner, signed in."""
    return browse(shared.token(owner))
