"""Signing in to the console: the cookie, its CSRF token, and one-time codes.

The cookie holds the API token itself, so that a revoked or expired token signs its browser out at once, in
every process. Scripts cannot read it (HttpOnly), other sites cannot make a browser send it (SameSite=Strict),
and it is sent to `/console` only. The API does not accept it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from time import monotonic
from typing import Literal
from urllib.parse import urlsplit

from starlette.responses import Response

from gieok.errors import Forbidden, Unauthenticated

PREFIX = "/console"
COOKIE = "gieok_console"
LANGUAGE_COOKIE = "gieok_console_language"
THEME_COOKIE = "gieok_console_theme"
SIGN_IN = f"{PREFIX}/sign-in"
PREFERENCES = f"{PREFIX}/preferences"
STATIC = f"{PREFIX}/static"
PUBLIC_PREFIXES = (SIGN_IN, PREFERENCES, f"{STATIC}/")
"""Paths that need no token."""
CSRF_FIELD = "csrf"
CODE_SECONDS = 300.0
PREFERENCE_SECONDS = 365 * 24 * 3600

Theme = Literal["auto", "light", "dark"]
Headers = Mapping[bytes, bytes]


def is_console(path: str) -> bool:
    """Whether a path belongs to the console."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


def cookies_of(headers: Headers) -> Mapping[str, str]:
    """The cookies of a request. A malformed header has none."""
    try:
        parsed = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in parsed.items()}


def console_token(headers: Headers) -> str:
    """The token of the cookie. Unauthenticated if the browser is not signed in."""
    token = cookies_of(headers).get(COOKIE)
    if not token:
        raise Unauthenticated
    return token


def csrf_token(token: str) -> str:
    """The value that every form carries. Only a page of this console can know it."""
    return hmac.new(token.encode(), b"gieok console csrf", hashlib.sha256).hexdigest()


def check_csrf(token: str, given: str) -> None:
    """Forbidden if a form does not carry the value of this session."""
    if not hmac.compare_digest(csrf_token(token).encode(), given.encode()):
        raise Forbidden("this form belongs to another session; open the page again and repeat the change")


def check_same_origin(headers: Headers) -> None:
    """Forbidden for a form of another site. For forms that need no token, and so have no CSRF value."""
    site = headers.get(b"sec-fetch-site")
    origin = headers.get(b"origin")
    host = headers.get(b"host", b"").decode("latin-1")
    is_own = origin is None or urlsplit(origin.decode("latin-1")).netloc == host
    if site not in (None, b"same-origin", b"none") or not is_own:
        raise Forbidden("this form was sent by another site")


def sign_in(response: Response, token: str, *, secure: bool) -> None:
    """Set the cookie. It ends with the browser's session; `secure` limits it to HTTPS."""
    response.set_cookie(COOKIE, token, path=PREFIX, httponly=True, samesite="strict", secure=secure)


def sign_out(response: Response) -> None:
    """Remove the cookie."""
    response.delete_cookie(COOKIE, path=PREFIX, httponly=True, samesite="strict")


def remember(response: Response, name: str, value: str) -> None:
    """Set the cookie of a preference: language or theme."""
    response.set_cookie(
        name, value, path=PREFIX, max_age=PREFERENCE_SECONDS, httponly=True, samesite="strict"
    )


class SignInCodes:
    """One-time codes that sign in, so that `gieok console` puts no token into a URL."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._tokens: dict[str, tuple[str, float]] = {}

    def create(self, token: str) -> str:
        """A code for this token. It can be used once, within five minutes."""
        code = secrets.token_urlsafe(32)
        self._tokens[code] = (token, self._clock() + CODE_SECONDS)
        return code

    def redeem(self, code: str) -> str:
        """The token of a code. Unauthenticated if it is unknown, used or too old."""
        token, ends_at = self._tokens.pop(code, ("", 0.0))
        if self._clock() >= ends_at:
            raise Unauthenticated
        return token
