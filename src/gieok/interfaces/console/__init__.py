"""The web console of `gieok serve`: server-rendered pages under `/console`.

It shows what the API returns, by calling the same facade. `session.py` signs in, `page.py` renders, and each
page is one file in `pages/`, with its template in `templates/` and its texts in `texts/`.
"""

from __future__ import annotations

from fastapi import FastAPI

from gieok.interfaces.console.pages import (
    chat,
    data,
    decision_import,
    decisions,
    facts,
    memories,
    memory,
    operator,
    personas,
    plans,
    proposals,
    sessions,
    sign_in,
    turn,
)
from gieok.interfaces.console.session import PREFIX, SignInCodes

PAGES = (
    sign_in,
    personas,
    chat,
    memories,
    memory,
    facts,
    sessions,
    turn,
    decision_import,
    proposals,
    decisions,
    plans,
    data,
    operator,
)


def add_console(app: FastAPI, codes: SignInCodes | None = None) -> None:
    """Add the pages of the console. `codes` sign in without a token."""
    app.state.sign_in_codes = codes or SignInCodes()
    for page in PAGES:
        app.include_router(page.router, prefix=PREFIX, include_in_schema=False)
