"""Makes the pictures of the web console in the documentation from the data of the demo: `make screenshots`.

It needs a Chromium, see `chromium.py`, and fonts with Hangul. With a folder as argument it puts every page
there, in both languages and themes, to look at.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from gieok import Gieok
from gieok.interfaces.cli import main
from gieok.interfaces.cli.demo.acts import DemoFolder
from tests.console.chromium import open_chromium
from tests.rest.conftest import GENEROUS, Server, serving

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "images"
NAME = re.compile(r"console-\w+-(?:ko|en)-(?:light|dark)\.png")
QUESTION = {"ko": "그때 면접 어땠지?", "en": "How was my interview?"}
WORD = {"ko": "면접이", "en": "interviews"}
Lang = Literal["ko", "en"]


def search(page: Page, lang: Lang) -> None:
    page.locator("input[name=q]").fill(WORD[lang])
    page.locator("select[name=persona]").select_option("haru")
    expect(page.locator(".why").first).to_be_visible()


def ask(page: Page, lang: Lang) -> None:
    page.locator("#message").fill(QUESTION[lang])
    page.keyboard.press("Enter")
    expect(page.locator("#chat-side .hits").first).to_be_visible()


def slide(page: Page, _lang: Lang) -> None:
    page.locator("#day").focus()
    for _ in range(4):
        title = page.locator("#state h2").first.inner_text()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#state h2").first).not_to_have_text(title)
    expect(page.locator("#state ins").first).to_be_visible()


def open_first(page: Page, _lang: Lang) -> None:
    page.locator("main a[href^='/console/decisions/']").first.click()
    expect(page.locator("canvas").first).to_be_visible()


def look(_page: Page, _lang: Lang) -> None:
    """Nothing to do before the picture."""


PICTURES: Iterable[tuple[str, str, Callable[[Page, Lang], None]]] = (
    ("memories", "/console/memories", search),
    ("chat", "/console/chat/haru", ask),
    ("facts", "/console/facts/haru?day=1", slide),
    ("sessions", "/console/sessions", look),
    ("personas", "/console/personas", look),
    ("decisions", "/console/decisions", look),
    ("plans", "/console/plans", look),
)


def mentioned() -> set[str]:
    """The pictures that the documentation shows."""
    pages = [ROOT / "README.md", ROOT / "README.ko.md", *(ROOT / "docs").rglob("*.md")]
    return {name for page in pages for name in NAME.findall(page.read_text(encoding="utf-8"))}


def take(
    browser: Browser, server: Server, lang: Lang, theme: Literal["light", "dark"], folder: Path | None
) -> None:
    """The pictures in one language and theme: those of the documentation, or all of them in a folder."""
    wanted = mentioned()
    context = browser.new_context(
        base_url=server.url,
        locale={"ko": "ko-KR", "en": "en-US"}[lang],
        color_scheme=theme,
        viewport={"width": 1200, "height": 800},
        timezone_id="Asia/Seoul",
    )
    page = context.new_page()
    page.goto(f"/console/sign-in?code={server.codes.create(server.token('mina'))}")
    for name, path, prepare in PICTURES:
        file = f"console-{name}-{lang}-{theme}.png"
        if folder is not None or file in wanted:
            page.goto(path)
            prepare(page, lang)
            page.screenshot(path=(folder or FOLDER) / file)
    context.close()


async def remember_language(folder: DemoFolder, lang: Lang) -> None:
    async with await Gieok.open(folder.settings, background=False) as gieok:
        await gieok.user("mina").profile.set(language=lang, timezone="Asia/Seoul")


def make(target: Path | None) -> None:
    """Run the demo in each language, and take its pictures in each theme."""
    (target or FOLDER).mkdir(exist_ok=True)
    languages: tuple[Lang, ...] = ("ko", "en")
    for lang in languages:
        with TemporaryDirectory() as path:
            folder = DemoFolder(Path(path) / "demo")
            arguments = ["demo", "--lang", lang, "--keep", str(folder.path)]
            CliRunner().invoke(main, arguments)
            asyncio.run(remember_language(folder, lang))
            with serving(folder.settings, GENEROUS) as server, open_chromium() as browser:
                for theme in ("light", "dark"):
                    take(browser, server, lang, theme, target)


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
