"""The code blocks of a page. A comment on the line before a block may say how it is tested:

<!-- not run: reason -->  the block is not run
<!-- file: plan.json -->  the block is saved under this name for the blocks after it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.docs.generated import DOCS

PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))
"""All pages of the site, relative to docs/."""
ALL_PAGES = [*PAGES, "../README.md", "../README.ko.md"]
"""The pages of the site and the README files."""

SHELL = {"sh", "bash", "console"}
NOT_RUN = {"", "text", "markdown"}
"""Languages of blocks that are not run: output, templates, diagrams."""

_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>not run|file): (?P<argument>[^\n]+?) -->\n+)?"
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
    """A code block and its location."""

    page: str
    line: int
    language: str
    text: str
    mark: str | None
    argument: str | None
    """The reason or the file name in the comment."""

    @property
    def location(self) -> str:
        return f"docs/{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        return self.mark != "not run" and self.language not in NOT_RUN

    @property
    def looks_like_a_command(self) -> bool:
        return bool(_COMMAND.search(self.text)) and not _USAGE.search(self.text)


def blocks_of(page: str) -> Iterator[Block]:
    """The blocks of a page, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        indent = found["indent"]
        content = "".join(each.removeprefix(indent) for each in found["text"].splitlines(keepends=True))
        yield Block(page, line, found["language"], content, found["mark"], found["argument"])
