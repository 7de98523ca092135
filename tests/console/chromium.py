"""A real Chromium for the tests of the console and for its screenshots.

`playwright install chromium` installs one; GIEOK_CHROMIUM names another. Without one the tests are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, Error, sync_playwright

CHROMIUM = "GIEOK_CHROMIUM"


class NoChromium(Exception):
    """There is no Chromium that can be started here."""


@contextmanager
def open_chromium() -> Generator[Browser]:
    """A running Chromium. NoChromium says why there is none."""
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=os.environ.get(CHROMIUM))
        except Error as error:
            reason = error.message.strip().splitlines()[0]
            raise NoChromium(f"no Chromium ({reason}); run `playwright install chromium`") from None
        try:
            yield browser
        finally:
            browser.close()
