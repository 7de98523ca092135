"""The code blocks of a page, each with what the page says about it in a comment on the line before:

<!-- not run: why -->     nobody runs it, and why
<!-- file: plan.json -->  the blocks after it find it under this name
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.docs.generated import DOCS

PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
"""Every page of the site by its path below docs/."""
EVERY = [*PAGES, "../README.md", "../README.ko.md"]
"""And the pages that a stranger reads first."""

SHELL = {"sh", "bash", "console"}
SHOWN = {"", "text", "markdown"}
"""What is only looked at: output, a form, a picture."""

_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>not run|file): (?P<said>[^\n]+?) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_COMMAND = re.compile(
    r"^(?:\$ )?(?:curl|docker|export|gieok|make|ollama|openssl|pg_dump|pip|printf|psql|python3?) ",
    re.MULTILINE,
)
_USAGE = re.compile(r"\[OPTIONS\]")


@dataclass(frozen=True)
class Block:
    """One block and where it stands."""

    page: str
    line: int
    language: str
    text: str
    mark: str | None
    said: str | None

    @property
    def place(self) -> str:
        return f"docs/{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        return self.mark != "not run" and self.language not in SHOWN

    @property
    def looks_like_a_command(self) -> bool:
        return bool(_COMMAND.search(self.text)) and not _USAGE.search(self.text)


def blocks_of(page: str) -> Iterator[Block]:
    """The blocks of a page in their order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        indent = found["indent"]
        inside = "".join(each.removeprefix(indent) for each in found["text"].splitlines(keepends=True))
        yield Block(page, line, found["language"], inside, found["mark"], found["said"])
