"""Accept-Language: Korean is the default, English on request."""

from __future__ import annotations

import pytest

from gieok.interfaces.rest.gateway.caller import language_of


@pytest.mark.parametrize(
    ("header", "korean"),
    [
        (None, True),
        ("", True),
        ("en", False),
        ("en-US,en;q=0.9", False),
        ("EN-gb", False),
        ("ko-KR,ko;q=0.9,en-US;q=0.8,en;q=0.7", True),
        ("en-US,en;q=0.9,ko;q=0.8", False),
        ("en;q=0.5, ko;q=0.9", True),
        ("ko, en", True),
        ("en, ko", False),
        ("fr", True),
        ("fr, en;q=0.1", False),
        ("en;q=0", True),
        ("en;q=nonsense", True),
        ("*", True),
        (",;,q=;;" * 100, True),
    ],
)
def test_the_preferred_language(header: str | None, korean: bool) -> None:
    assert (language_of(header) == "ko") is korean
