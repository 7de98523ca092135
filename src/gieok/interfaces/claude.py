"""Claude's memory tool (`memory_20250818`) on Gieok's documents. Needs `gieok[anthropic]`.

The files that Claude writes under /memories are documents of one owner: sealed, with versions, and searchable
by `user.documents.search`. A directory is a namespace; it exists as long as there is a file in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gieok.app import User
from gieok.app.cycles import validated
from gieok.app.documents import put_operation
from gieok.errors import GieokError
from gieok.memory.documents.records import MAX_LIST, DeleteDocument, Document

try:
    from anthropic.lib.tools import BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818Command,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "anthropic":
        raise
    raise ModuleNotFoundError(
        "gieok.interfaces.claude needs the package anthropic, which is not installed: "
        "pip install 'gieok[anthropic]'",
        name=error.name,
    ) from error

__all__ = ["GieokMemoryTool"]

ROOT = "/memories"
MAX_FILES = 500
"""Files in a directory that is deleted or renamed: all of them are one commit."""
LINE_NUMBER_WIDTH = 6
LEVELS = 2
"""Levels of directories that a view lists."""


class _Path(NamedTuple):
    """A path below /memories."""

    given: str
    parts: tuple[str, ...]
    """Directories and the name; empty for /memories itself."""


class GieokMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool of one owner, for `AsyncAnthropic`. Texts of results and errors are those of the SDK.

    `namespace` is where the documents are: give each agent its own, or share one. A file may have up to
    256 KiB. Commands of one tool run one after the other; if two processes change a file at the same time,
    the later one wins, and the history of the document has both.
    """

    def __init__(
        self,
        user: User,
        *,
        namespace: Sequence[str] = ("claude",),
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._documents = user.documents
        self._namespace = tuple(namespace)
        self._turn = asyncio.Lock()

    async def execute(self, command: BetaMemoryTool20250818Command) -> str:
        """Run a command. ToolError, which the model reads, if it cannot be done."""
        try:
            async with self._turn:
                return str(await super().execute(command))
        except GieokError as error:
            raise ToolError(f"{error.code}: {error}") from error

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A file with line numbers, or the files of a directory."""
        path = _parse(command.path)
        if (content := await self._read(path)) is not None:
            return f"Here's the content of {path.given} with line numbers:\n" + _numbered(
                content, command.view_range
            )
        below = await self._below(path, MAX_LIST)
        if path.parts and not below:
            raise _missing(path)
        header = f"Here're the files and directories up to {LEVELS} levels deep in {path.given}"
        sizes = {self._parts(each)[len(path.parts) :]: len(_text(each).encode()) for each in below}
        lines = [f"{size}\t{path.given}{name}" for size, name in _listing(sizes)]
        if len(below) == MAX_LIST:
            lines.append(f"(only the {MAX_LIST} files that were written last)")
        return "\n".join([f"{header}, excluding hidden items:", *lines])

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        path = _parse(command.path)
        await self._check_free(path, f"File {path.given} already exists")
        await self._write(path, command.file_text)
        return f"File created successfully at: {path.given}"

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace text that occurs once."""
        path = _parse(command.path)
        content = await self._file(path)
        if content.count(command.old_str) != 1:
            raise ToolError(_not_unique(path, content, command.old_str))
        changed = content.replace(command.old_str, command.new_str)
        await self._write(path, changed)
        line = content.count("\n", 0, content.index(command.old_str)) + 1
        snippet = _numbered(changed, [max(1, line - 2), line + 2])
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + snippet
        )

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text after a line; 0 is before the first one."""
        path = _parse(command.path)
        lines = (await self._file(path)).split("\n")
        if not lines[-1]:  # what follows the last line break is no line
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        await self._write(path, "\n".join(lines) + "\n")
        return f"The file {path.given} has been edited."

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file or a directory, with all versions."""
        path = _parse(command.path)
        if not path.parts:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        moved = await self._tree(path)
        await self._documents.batch([_delete(each) for each in moved])
        return f"Successfully deleted {path.given}"

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory. The versions before stay with the old name, which is deleted."""
        old, new = _parse(command.old_path), _parse(command.new_path)
        if not old.parts:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        if new.parts[: len(old.parts)] == old.parts and new.parts != old.parts:
            raise ToolError(f"Cannot move {old.given} into itself")
        await self._check_free(new, f"The destination {new.given} already exists")
        moved = await self._tree(old)
        puts = [self._put((*new.parts, *self._parts(each)[len(old.parts) :]), _text(each)) for each in moved]
        await self._documents.batch([*puts, *map(_delete, moved)])
        return f"Successfully renamed {old.given} to {new.given}"

    async def clear_all_memory(self) -> str:
        """Delete all files, with all versions."""
        while below := await self._below(_Path(ROOT, ()), MAX_LIST):
            await self._documents.batch([_delete(each) for each in below])
        return "All memory cleared"

    async def _read(self, path: _Path) -> str | None:
        """The text of a file; None if there is no file."""
        if not path.parts:
            return None
        found = await self._documents.get((*self._namespace, *path.parts[:-1]), path.parts[-1])
        return None if found is None else _text(found)

    async def _file(self, path: _Path) -> str:
        content = await self._read(path)
        if content is not None:
            return content
        is_directory = not path.parts or await self._below(path, 1)
        raise ToolError(f"The path {path.given} is not a file.") if is_directory else _missing(path)

    async def _below(self, path: _Path, limit: int) -> tuple[Document, ...]:
        """Files in a directory and below it, those that were written last first."""
        return await self._documents.search((*self._namespace, *path.parts), limit=limit)

    async def _tree(self, path: _Path) -> tuple[Document, ...]:
        """A file, or all files of a directory. ToolError if there is neither, or if there are too many."""
        found = await self._documents.get((*self._namespace, *path.parts[:-1]), path.parts[-1])
        tree = (found,) if found else await self._below(path, MAX_FILES + 1)
        if not tree:
            raise ToolError(f"The path {path.given} does not exist")
        if len(tree) > MAX_FILES:
            raise ToolError(f"{path.given} has more than {MAX_FILES} files; begin with a part of them")
        return tree

    async def _check_free(self, path: _Path, refusal: str) -> None:
        """ToolError if there is such a file or directory, or if one of its directories is a file."""
        if not path.parts or await self._read(path) is not None or await self._below(path, 1):
            raise ToolError(refusal)
        for depth in range(1, len(path.parts)):
            parent = _Path("/".join((ROOT, *path.parts[:depth])), path.parts[:depth])
            if await self._read(parent) is not None:
                raise ToolError(f"The path {parent.given} is not a directory.")

    async def _write(self, path: _Path, content: str) -> None:
        await self._documents.batch([self._put(path.parts, content)])

    def _put(self, parts: tuple[str, ...], content: str):
        return put_operation((*self._namespace, *parts[:-1]), parts[-1], {"text": content}, index=["text"])

    def _parts(self, document: Document) -> tuple[str, ...]:
        return (*document.namespace[len(self._namespace) :], document.key)


def _parse(path: str) -> _Path:
    """A path, without empty parts. ToolError if it is not below /memories."""
    given = path.rstrip("/")
    if given != ROOT and not given.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    parts = tuple(part for part in given.removeprefix(ROOT).split("/") if part not in ("", "."))
    if ".." in parts:
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return _Path("/".join((ROOT, *parts)), parts)


def _text(document: Document) -> str:
    return str(document.value.get("text", ""))


def _delete(document: Document) -> DeleteDocument:
    return validated(DeleteDocument, namespace=document.namespace, key=document.key)


def _missing(path: _Path) -> ToolError:
    return ToolError(f"The path {path.given} does not exist. Please provide a valid path.")


def _numbered(content: str, view_range: Sequence[int] | None) -> str:
    """The lines with their numbers; of a range [first, last], in which -1 is the end."""
    lines = content.split("\n")
    first, last = (max(1, view_range[0]), view_range[1]) if view_range and len(view_range) == 2 else (1, -1)
    shown = lines[first - 1 : len(lines) if last == -1 else last]
    return "\n".join(f"{number:>{LINE_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(shown, first))


def _not_unique(path: _Path, content: str, text: str) -> str:
    lines: list[str] = []
    place = content.find(text) if text else -1
    while place != -1:
        lines.append(str(content.count("\n", 0, place) + 1))
        place = content.find(text, place + 1)
    if not lines:
        return f"No replacement was performed, old_str `{text}` did not appear verbatim in {path.given}."
    return (
        f"No replacement was performed. Multiple occurrences of old_str `{text}` in lines: "
        f"{', '.join(lines)}. Please ensure it is unique"
    )


def _listing(sizes: dict[tuple[str, ...], int]) -> Iterable[tuple[str, str]]:
    """Size and path of a directory and of what is in it, by name, without hidden items."""
    shown = {parts: size for parts, size in sizes.items() if not any(part[0] == "." for part in parts)}
    yield _human_size(sum(shown.values())), ""
    directories = {parts[:depth] for parts in shown for depth in range(1, len(parts))}
    for parts in sorted({*shown, *directories}):
        if len(parts) <= LEVELS:
            below = sum(size for each, size in shown.items() if each[: len(parts)] == parts)
            yield _human_size(below), "/" + "/".join(parts) + ("/" if parts in directories else "")


def _human_size(size: int) -> str:
    unit = 0
    shown = float(size)
    while shown >= 1024 and unit < 3:
        shown, unit = shown / 1024, unit + 1
    return (f"{shown:.0f}" if shown.is_integer() else f"{shown:.1f}") + "BKMG"[unit]
