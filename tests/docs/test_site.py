"""The documentation site builds without warnings, has no broken links and loads nothing from elsewhere."""

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
pytestmark = pytest.mark.xdist_group("site")  # they share one build


class Page(HTMLParser):
    """The links and anchors of a page, and the files that a browser loads for it."""

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
    """The built site. A strict build also fails on a page that is not in the navigation."""
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


def test_every_page_is_built(site: Path) -> None:
    assert all((site / page).with_suffix(".html").exists() for page in PAGES)


def test_there_are_no_broken_links(pages: dict[Path, Page]) -> None:
    broken: list[str] = []
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and anchor not in pages[target].anchors):
                broken.append(f"{file.name}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_another_server(site: Path, pages: dict[Path, Page]) -> None:
    """So the site works without a network."""
    for file, page in pages.items():
        assert [each for each in page.loaded if urlsplit(each).netloc] == [], file.name
    styles = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles) == []
