"""The documentation as a site: it builds without a warning, and nothing in it leads nowhere or outside."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.blocks import PAGES

ROOT = Path(__file__).parents[2]
BUILD_SECONDS = 100
pytestmark = pytest.mark.xdist_group("site")  # it is built once for all of them


class Page(HTMLParser):
    """The links, the anchors and what a browser loads by itself of one page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if "href" in found:
            (self.links if tag == "a" else self.loaded).add(found["href"])
        if "src" in found:
            self.loaded.add(found["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. Building it strictly fails on a page that is not in the navigation, too."""
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file) for file in site.rglob("*.html") if file.name != "404.html"}


def test_every_page_is_there(site: Path) -> None:
    assert all((site / page).with_suffix(".html").exists() for page in PAGES)


def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    lost: list[str] = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and anchor not in pages[target].anchors):
                lost.append(f"{file.name}: {link}")
    assert lost == []


def test_nothing_is_loaded_from_another_server(site: Path, pages: dict[Path, Page]) -> None:
    """It can be read on a machine without a network."""
    for file, page in pages.items():
        assert [each for each in page.loaded if urlsplit(each).netloc] == [], file.name
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles) == []
