"""Signing in and out, language and theme, static files, and the way to the first page."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from gieok.access import Principal
from gieok.app import Gieok
from gieok.errors import NotFound, Unauthenticated
from gieok.interfaces.console.navigation import NAVIGATION
from gieok.interfaces.console.page import static_file, viewer_of
from gieok.interfaces.console.session import (
    LANGUAGE_COOKIE,
    PREFIX,
    SIGN_IN,
    THEME_COOKIE,
    SignInCodes,
    check_csrf,
    check_same_origin,
    console_token,
    is_console,
    remember,
    sign_in,
    sign_out,
)
from gieok.interfaces.rest.gateway.body import PARSED_BODY
from gieok.interfaces.rest.gateway.caller import PRINCIPAL
from gieok.interfaces.rest.gateway.errors import NO_SUCH_ROUTE
from gieok.interfaces.rest.gateway.multipart import EMPTY_FORM, Form

router = APIRouter()

_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
"""The version is part of the URL of a static file."""


@router.get("")
async def home(request: Request) -> Response:
    """The first page that the token may see."""
    principal = cast(Principal, request.scope[PRINCIPAL])
    offered = [item.path for item in NAVIGATION if item.scope in principal.scopes]
    if offered:
        return RedirectResponse(offered[0], 303)
    return viewer_of(request.scope).render("empty.html", text="home.empty")


@router.get("/sign-in")
async def sign_in_page(request: Request) -> Response:
    """The form, or with a one-time code the way in."""
    code = request.query_params.get("code")
    if code is None:
        return _form(request)
    codes = cast(SignInCodes, request.app.state.sign_in_codes)
    try:
        token = codes.redeem(code)
    except Unauthenticated:
        return _form(request, "sign_in.code", status=401)
    return await _signed_in(request, token, PREFIX)


@router.post("/sign-in")
async def submit(request: Request) -> Response:
    check_same_origin(dict(request.scope["headers"]))
    form = _fields(request)
    try:
        return await _signed_in(request, form.get("token"), form.get("next"))
    except Unauthenticated:
        return _form(request, "sign_in.failed", status=401)


@router.post("/sign-out")
async def leave(request: Request) -> Response:
    check_csrf(console_token(dict(request.scope["headers"])), _fields(request).get("csrf"))
    response = RedirectResponse(SIGN_IN, 303)
    sign_out(response)
    return response


@router.post("/preferences")
async def preferences(request: Request) -> Response:
    """Set language and theme of this browser."""
    check_same_origin(dict(request.scope["headers"]))
    form = _fields(request)
    response = RedirectResponse(_own_path(form.get("next")), 303)
    if form.get("language") in ("ko", "en"):
        remember(response, LANGUAGE_COOKIE, form.get("language"))
    if form.get("theme") in ("auto", "light", "dark"):
        remember(response, THEME_COOKIE, form.get("theme"))
    return response


@router.get("/static/{version}/{name}")
async def static(version: str, name: str) -> Response:
    """A style sheet, a script or a licence text."""
    found = static_file(name)
    if found is None:
        raise NotFound(NO_SUCH_ROUTE)
    return Response(found[0], media_type=found[1], headers=_FOREVER)


def _fields(request: Request) -> Form:
    return request.scope.get(PARSED_BODY, EMPTY_FORM)


def _form(request: Request, error: str | None = None, status: int = 200) -> Response:
    wanted = _own_path(request.query_params.get("next", "") or _fields(request).get("next"))
    return viewer_of(request.scope).render("sign_in.html", status, error=error, next=wanted)


async def _signed_in(request: Request, token: str, wanted: str) -> Response:
    """Redirect with the cookie. Unauthenticated for a token that is not valid."""
    await cast(Gieok, request.app.state.gieok).tokens.authenticate(token)
    response = RedirectResponse(_own_path(wanted), 303)
    sign_in(response, token, secure=request.url.scheme == "https")
    return response


def _own_path(wanted: str) -> str:
    """The page to show next, if it is one of the console."""
    path = urlsplit(wanted).path
    safe = path == wanted and is_console(path) and "//" not in path and "\\" not in path
    return path if safe and not path.startswith(SIGN_IN) else PREFIX
