"""What every page of the console needs: the signed-in user, the language, the form, and rendering.

A page is one file in `pages/`: its routes, its texts in both languages, and a template of the same name. Its
routes take a `Page` of the scope that they need (`ReadPage`, `WritePage`, …), call the facade, and return
`page.render(...)` or `page.redirect(...)`. Errors of the facade become error pages; `page.attempt` catches
those that belong beside a field.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, TypeVar, cast
from urllib.parse import quote, urlencode

from fastapi import Depends, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope as AsgiScope

from gieok import __version__
from gieok.access import Principal, Scope
from gieok.app import Gieok, User
from gieok.errors import Conflict, InputRefused, ScopeMissing
from gieok.interfaces.cli.texts import Translator
from gieok.interfaces.console import filters
from gieok.interfaces.console.navigation import NAVIGATION
from gieok.interfaces.console.session import (
    COOKIE,
    CSRF_FIELD,
    LANGUAGE_COOKIE,
    PREFIX,
    SIGN_IN,
    STATIC,
    THEME_COOKIE,
    Theme,
    check_csrf,
    cookies_of,
    csrf_token,
    sign_out,
)
from gieok.interfaces.console.texts import TEXTS
from gieok.interfaces.rest.gateway.body import PARSED_BODY
from gieok.interfaces.rest.gateway.caller import PRINCIPAL, language_of
from gieok.interfaces.rest.gateway.errors import Problem
from gieok.interfaces.rest.gateway.multipart import EMPTY_FORM, Form
from gieok.memory.fields import Language
from gieok.memory.profile import Profile, local

T = TypeVar("T")

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers send forms with the origin `null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers of every page: nothing inline, nothing from elsewhere, and no frames."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """How a page is shown, also to someone who is not signed in."""

    language: Language
    theme: Theme
    path: str
    principal: Principal | None = None
    csrf: str = ""
    timezone: str = "UTC"

    @property
    def t(self) -> Translator:
        return Translator(self.language, TEXTS)

    def html(self, template: str, /, **values: Any) -> str:
        """A template as HTML."""
        scopes = self.principal.scopes if self.principal else frozenset[Scope]()
        return (
            _environment()
            .get_template(template)
            .render(
                t=self.t,
                when=self.when,
                name_of=self.name_of,
                viewer=self,
                nav=[item for item in NAVIGATION if item.scope in scopes],
                scopes=scopes,
                static=f"{STATIC}/{__version__}",
                **values,
            )
        )

    def name_of(self, kind: str, value: str) -> str:
        """The name of a signal, a reason or the like. One that is new here is shown as it is."""
        key = f"{kind}.{value}"
        return self.t(key) if key in TEXTS else value

    def when(self, at: datetime) -> str:
        """A time on the user's clock, such as 2026-11-18 09:15."""
        return local(at, self.timezone).strftime("%Y-%m-%d %H:%M")

    def render(self, template: str, /, status: int = 200, **values: Any) -> Response:
        """A template as a page."""
        return Response(self.html(template, **values), status, HEADERS, "text/html")


class Page:
    """One request to a page of a signed-in user."""

    def __init__(self, request: Request, profile: Profile) -> None:
        headers = dict(request.scope["headers"])
        token = cookies_of(headers)[COOKIE]
        self.principal = cast(Principal, request.scope[PRINCIPAL])
        self.gieok = cast(Gieok, request.app.state.gieok)
        self.user: User = self.gieok.user(self.principal.owner)
        self.viewer = replace(
            viewer_of(request.scope, profile.language),
            principal=self.principal,
            csrf=csrf_token(token),
            timezone=profile.timezone or self.gieok.timezone,
        )
        self.form: Form = request.scope.get(PARSED_BODY, EMPTY_FORM)
        self.is_fragment = b"hx-request" in headers
        """Whether htmx asks for a part of the page."""
        self.query = request.query_params
        if request.method != "GET":
            given = self.form.get(CSRF_FIELD) or headers.get(b"x-csrf-token", b"").decode("latin-1")
            check_csrf(token, given)

    @property
    def language(self) -> Language:
        return self.viewer.language

    @property
    def t(self) -> Translator:
        return self.viewer.t

    def render(self, template: str, /, status: int = 200, **values: Any) -> Response:
        """A template as a page. `done` in the URL names the text of what has just been done."""
        done = self.query.get("done", "")
        count = self.query.get("count", "")
        notice = f"done.{done}" if f"done.{done}" in TEXTS else None
        shown = self.t(notice, count=count if count.isdigit() else "0") if notice else None
        values.setdefault("notice", shown)
        return self.viewer.render(template, status, **values)

    def signed_out(self) -> Viewer:
        """How to show the last page of a user whose token is no longer valid."""
        return replace(self.viewer, principal=None, csrf="")

    def redirect(self, *parts: str, done: str = "", **query: str) -> Response:
        """Redirect to a page of the console after a change, so that reloading does not repeat it."""
        target = "/".join([PREFIX, *(quote(part, safe="") for part in parts)])
        named = {name: value for name, value in {"done": done, **query}.items() if value}
        url = f"{target}?{urlencode(named)}" if named else target
        if self.is_fragment:
            return Response(headers={"HX-Redirect": url})
        return RedirectResponse(url, 303)

    async def attempt(self, work: Awaitable[T]) -> tuple[T | None, Mapping[str, str]]:
        """The result of a change, or the errors by field that the page shows beside its fields.

        An error that belongs to no field is under the empty name.
        """
        try:
            return await work, {}
        except InputRefused as refused:
            at = refused.at or ""
            return None, {at: str(refused).removeprefix(f"{at}: ")}
        except Conflict as conflict:
            return None, {"": str(conflict)}


def viewer_of(scope: AsgiScope, language_of_user: Language | None = None) -> Viewer:
    """How to show pages to this browser: in the language chosen here, that of the user's profile, or that of
    the browser, and in the chosen theme."""
    headers = dict(scope["headers"])
    cookies = cookies_of(headers)
    language, theme = cookies.get(LANGUAGE_COOKIE), cookies.get(THEME_COOKIE)
    preferred = language_of_user or language_of(headers.get(b"accept-language", b"").decode("latin-1"))
    return Viewer(
        language=language if language in ("ko", "en") else preferred,
        theme=theme if theme in ("light", "dark") else "auto",
        path=scope["path"],
    )


def error_page(scope: AsgiScope, problem: Problem) -> Response:
    """An error of a console request: a page, or the sign-in page for someone who is not signed in."""
    is_fragment = any(name == b"hx-request" for name, _ in scope["headers"])
    if problem.status == 401:
        wanted = scope["path"] if scope["method"] == "GET" else PREFIX
        url = f"{SIGN_IN}?{urlencode({'next': wanted})}"
        response = Response(headers={"HX-Redirect": url}) if is_fragment else RedirectResponse(url, 303)
        sign_out(response)
        return response
    viewer = viewer_of(scope)
    template = "error_fragment.html" if is_fragment else "error.html"
    response = viewer.render(template, problem.status, problem=problem)
    response.headers.update(problem.headers)
    return response


def static_file(name: str) -> tuple[bytes, str] | None:
    """A file of `static/` with its media type. None if there is no such file."""
    return _static_files().get(name)


@cache
def _static_files() -> Mapping[str, tuple[bytes, str]]:
    kinds = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml", "txt": "text/plain"}
    folder = files("gieok.interfaces.console") / "static"
    return {
        each.name: (each.read_bytes(), kinds[each.name.rpartition(".")[2]])
        for each in folder.iterdir()
        if each.name.rpartition(".")[2] in kinds
    }


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("gieok.interfaces.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(filters.FILTERS)
    return environment


def _require(scope: Scope) -> Callable[[Request], Awaitable[Page]]:
    async def page(request: Request) -> Page:
        principal = cast(Principal, request.scope[PRINCIPAL])
        if scope not in principal.scopes:
            raise ScopeMissing(scope)
        user = cast(Gieok, request.app.state.gieok).user(principal.owner)
        return Page(request, await user.profile.get())

    return page


ReadPage = Annotated[Page, Depends(_require("read"))]
WritePage = Annotated[Page, Depends(_require("write"))]
OwnerPage = Annotated[Page, Depends(_require("owner"))]
OperatorPage = Annotated[Page, Depends(_require("operator"))]
