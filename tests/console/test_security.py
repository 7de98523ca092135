"""Signing in, cookies, CSRF, headers, and stored text that would like to be markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape

import httpx
import pytest

from gieok.errors import Unauthenticated
from gieok.interfaces.console.session import CODE_SECONDS, SignInCodes
from tests.console.conftest import COOKIE, Browser
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api

Browse = Callable[..., Browser]


def test_a_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(
    shared: Server, browse: Browse
) -> None:
    answer = browse().sign_in(shared.token())
    assert (answer.status_code, answer.headers["location"]) == (303, "/console")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith(f"{COOKIE}=gk_")
    for flag in ("httponly", "samesite=strict", "path=/console"):
        assert flag in cookie
    assert "max-age" not in cookie  # it ends with the browser's session


def test_behind_https_the_cookie_is_sent_over_https_only(shared: Server, browse: Browse) -> None:
    forwarded = {"X-Forwarded-Proto": "https"}
    answer = browse().http.post("/console/sign-in", data={"token": shared.token()}, headers=forwarded)
    assert "secure" in answer.headers["set-cookie"].lower()


@pytest.mark.parametrize("token", ["", "gk_" + "x" * 43, "한글"])
def test_a_wrong_token_is_refused_beside_its_field(browse: Browse, token: str) -> None:
    answer = browse().sign_in(token)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "unknown, expired or revoked" in answer.text


def test_without_a_cookie_every_page_leads_to_the_sign_in_page(browse: Browse) -> None:
    answer = browse().http.get("/console/memories?persona=x")
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/console/sign-in?next=%2Fconsole%2Fmemories",
    )


def test_a_revoked_token_is_signed_out(shared: Server, browse: Browse, owner: str) -> None:
    created = shared.run(shared.gieok.tokens.create(owner))
    browser = browse(created.token)
    browser.get("/memories")
    shared.run(shared.gieok.tokens.revoke(created.record.id))
    answer = browser.http.get("/console/memories")
    assert answer.headers["location"].startswith("/console/sign-in")
    assert COOKIE not in browser.http.cookies


def test_an_expired_token_is_signed_out_also_where_htmx_asks(
    shared: Server, browse: Browse, owner: str
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    created = shared.run(shared.gieok.tokens.create(owner, expires_at=soon))
    browser = browse(created.token)
    shared.run(shared.gieok.tokens.revoke(created.record.id))
    answer = browser.http.post("/console/memories", data={"q": "x"}, headers={"HX-Request": "true"})
    assert answer.headers["hx-redirect"].startswith("/console/sign-in")


def test_signing_out_removes_the_cookie(browser: Browser) -> None:
    browser.post("/sign-out")
    assert COOKIE not in browser.http.cookies


def test_the_api_does_not_accept_the_cookie(browser: Browser) -> None:
    assert browser.http.get("/api/v1/memory/list").status_code == 401


def test_the_console_does_not_accept_a_bearer_token(shared: Server) -> None:
    with shared.client() as client:
        assert client.get("/console/memories").headers["location"].startswith("/console/sign-in")


@pytest.mark.parametrize("csrf", ["", "0" * 64, "한글"])
def test_a_form_without_the_sessions_value_changes_nothing(browser: Browser, api: Api, csrf: str) -> None:
    memory = api.memory(api.persona(), "지워지지 않는다")
    answer = browser.http.post(f"/console/memories/{memory['id']}/delete", data={"csrf": csrf})
    assert answer.status_code == 403
    assert api.get(f"/memory/{memory['id']}")["memory"]["summary"] == "지워지지 않는다"


def test_the_value_of_another_session_is_refused(
    shared: Server, browse: Browse, browser: Browser, owner: str
) -> None:
    other = browse(shared.token(owner))
    answer = browser.http.post("/console/sign-out", data={"csrf": other.csrf})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_another_site_cannot_sign_a_browser_in(
    shared: Server, browse: Browse, headers: dict[str, str]
) -> None:
    answer = browse().http.post("/console/sign-in", data={"token": shared.token()}, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/sign-in", "/memories", "/nothing", "/memories/none"])
def test_every_page_refuses_frames_and_everything_inline(browser: Browser, path: str) -> None:
    answer = browser.http.get(f"/console{path}")
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<style|<script(?! src=)|\sstyle=|\son\w+=", answer.text)
    assert not re.search(r"""(src|href|action)=["'](https?:)?//""", answer.text)


ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}{% raw %}",
    "<!--",
    "</textarea><script>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_stored_markup_is_shown_as_text(browser: Browser, api: Api, attack: str) -> None:
    persona = api.persona(attack)
    memory = api.memory(persona, f"면접 {attack}", topics=[attack], tags=[attack], speaker=attack)
    fields = {"q": "면접", "persona": persona}
    pages = [
        browser.get("/memories"),
        browser.get(f"/memories/{memory['id']}"),
        browser.get(f"/memories/{memory['id']}/edit"),
        browser.post("/memories", fields, 200).text,
        browser.post(f"/memories/{memory['id']}/why", {"q": attack}, 200).text,
    ]
    for page in pages:
        assert attack in unescape(page)
        assert "<" not in attack or attack not in page


def test_text_that_changes_direction_is_isolated_and_visible(browser: Browser, api: Api) -> None:
    memory = api.memory(api.persona(), "abc\u202egnp.exe\u2066")
    page = browser.get(f"/memories/{memory['id']}")
    assert "\u202e" not in page
    assert "\u2066" not in page
    assert '<bdi class="said">abc⟨U+202E⟩gnp.exe⟨U+2066⟩</bdi>' in page


@pytest.mark.parametrize("wanted", ["https://evil.example", "//evil.example", "/\\evil", "/api/v1/me", "x"])
def test_signing_in_leads_to_a_page_of_the_console_only(shared: Server, browse: Browse, wanted: str) -> None:
    answer = browse().http.post("/console/sign-in", data={"token": shared.token(), "next": wanted})
    assert answer.headers["location"] == "/console"


def test_a_token_without_the_scope_is_not_offered_what_it_may_not_do(
    shared: Server, browse: Browse, owner: str, api: Api
) -> None:
    memory = api.memory(api.persona(), "읽기만")
    reader = browse(shared.token(owner, scopes=["read"]))
    assert "checkbox" not in reader.get("/memories")
    assert "/edit" not in reader.get(f"/memories/{memory['id']}")
    reader.get(f"/memories/{memory['id']}/edit", 403)
    reader.post(f"/memories/{memory['id']}/delete", status=403)


def test_an_operator_sees_no_content(shared: Server, browse: Browse, owner: str, api: Api) -> None:
    api.memory(api.persona(), "비밀")
    operator = browse(shared.token(owner, scopes=["operator"]))
    assert operator.http.get("/console/memories").status_code == 403
    assert operator.http.get("/console").status_code in (200, 303)


def test_a_one_time_code_signs_in_once(shared: Server, browse: Browse) -> None:
    code = shared.codes.create(shared.token())
    first = browse().http.get(f"/console/sign-in?code={code}")
    assert first.status_code == 303
    assert COOKIE in first.headers["set-cookie"]
    again = browse().http.get(f"/console/sign-in?code={code}")
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


def test_a_code_expires() -> None:
    now = 0.0
    codes = SignInCodes(lambda: now)
    code = codes.create("token")
    now = CODE_SECONDS
    with pytest.raises(Unauthenticated):
        codes.redeem(code)


def test_static_files_may_be_cached_and_have_their_licences(browse: Browse) -> None:
    client: httpx.Client = browse().http
    page = client.get("/console/sign-in").text
    for path in re.findall(r'(?:src|href)="(/console/static/[^"]+)"', page):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert client.get("/console/static/0/htmx.LICENSE.txt").status_code == 200
    assert client.get("/console/static/0/../page.py").status_code in (303, 404)


def test_language_and_theme_are_remembered(browser: Browser) -> None:
    browser.http.post("/console/preferences", data={"language": "ko", "theme": "dark", "next": "/console"})
    page = browser.get("/memories")
    assert '<html lang="ko" data-theme="dark">' in page
    assert "기억 콘솔" in page
