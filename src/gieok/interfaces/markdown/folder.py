"""A folder of decision records: read whole, and written so that what did not change is not touched."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from uuid import UUID

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.markdown.naming import RecordFile, entries, file_name, root_id
from gieok.interfaces.markdown.parse import Defaults, beside, parse
from gieok.interfaces.markdown.record import DecisionRecord, NamedRelation
from gieok.interfaces.markdown.render import render
from gieok.memory.decisions.exchange import DecisionEntry, content_of
from gieok.memory.decisions.records import ProposedRelation

MAX_FILE_BYTES = 256 * 1024
MAX_FILES = 20_000

_NOT_RECORDS = frozenset({"readme", "index", "template", "contributing", "changelog", "license"})
_TEMPLATE = re.compile(
    r"(?:\d+[-_ ]+)?(?:(?:m?adr|decision|record)[-_ ]+)*template(?:[-_ ]+(?:bare|minimal|short|long|full))*"
)
"""A file of this name is a form to fill in. A decision about templates has more words in its name."""

WriteOutcome = Literal["written", "unchanged", "left"]


class Skipped(NamedTuple):
    """A file that is no decision in force, and why."""

    path: str
    reason: str
    name: str | None
    """What the decision of the file is called; None for a file that is no record."""


class Folder(NamedTuple):
    """What a folder holds: the records in force, and the Markdown files that are none."""

    files: Sequence[RecordFile]
    skipped: Sequence[Skipped]


def read_folder(folder: Path, defaults: Defaults) -> Folder:
    """Every record below a folder, by path. InputRefused names the first file that cannot be one."""
    files: list[RecordFile] = []
    skipped: list[Skipped] = []
    for path, file in _markdown_files(folder):
        if _is_no_record(file.stem):
            skipped.append(Skipped(path, "not a record", None))
            continue
        record = _read(path, file, defaults)
        if record.status == "accepted":
            files.append(RecordFile(path, record))
        else:
            skipped.append(Skipped(path, record.status, record.id or path))
    return Folder(files, skipped)


class FolderWriter:
    """Writes decisions to a folder, which is made if need be.

    A decision that has a file keeps it, whatever its name and form, and the file is written anew only where
    it says something else. A file that says its decision is not in force is left alone, and so is a link to
    one that stands elsewhere. Nothing is removed.
    """

    def __init__(self, folder: Path, owner: str, space: str | None = None) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputRefused(f"cannot be a folder: {type(error).__name__}", at=str(folder)) from None
        self._folder = folder
        self._owner = owner
        self._space = space
        self._found = read_folder(folder, Defaults())
        self._kept: dict[str | None, dict[UUID, _Kept]] = {}
        self.written: list[tuple[str, WriteOutcome]] = []
        """Every path so far, and what was done to it."""

    def write(self, decisions: Iterable[DecisionEntry]) -> None:
        """Bring the files of these decisions up to date."""
        self.written += [self._write(decision) for decision in decisions]

    def _write(self, decision: DecisionEntry) -> tuple[str, WriteOutcome]:
        kept = self._file_of(decision)
        if kept is None:
            path = file_name(decision)
            _replace(self._folder, path, render(_record(decision, None)))
            return path, "written"
        file = self._folder / kept.path
        if not kept.is_in_force or file.is_symlink():
            return kept.path, "left"
        text = _text(kept.path, file)
        if _says(text, kept, decision):
            return kept.path, "unchanged"
        _replace(self._folder, kept.path, render(_record(decision, kept.name), beside(text)))
        return kept.path, "written"

    def _file_of(self, decision: DecisionEntry) -> _Kept | None:
        """The folder may have been imported under the name given now, a domain's, or none."""
        for space in dict.fromkeys((self._space, decision.domain, None)):
            if space not in self._kept:
                self._kept[space] = _files(self._owner, self._found, space)
            if kept := self._kept[space].get(decision.root_id):
                return kept
        return None


class _Kept(NamedTuple):
    """The file of a decision, what the decision is called there, and where its relations lead."""

    path: str
    name: str | None
    relations: tuple[ProposedRelation, ...]
    is_in_force: bool


def _files(owner: str, found: Folder, space: str | None) -> dict[UUID, _Kept]:
    files = {
        root_id(owner, each.name, space): _Kept(each.path, each.name, (), is_in_force=False)
        for each in found.skipped
        if each.name
    }
    for entry, file in zip(entries(owner, found.files, space), found.files, strict=True):
        files.setdefault(
            entry.root_id, _Kept(file.path, file.record.id, entry.relations or (), is_in_force=True)
        )
    return files


def _says(text: str, kept: _Kept, decision: DecisionEntry) -> bool:
    """Whether a file says what is stored. What it does not say itself was said when it was imported."""
    record = parse(text, Defaults(decision.strength, decision.domain))
    return content_of(record) == decision.content and set(kept.relations) == set(decision.relations or ())


def _markdown_files(folder: Path) -> Iterator[tuple[str, Path]]:
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}")
    found = sorted(
        (file.relative_to(folder).as_posix(), file)
        for file in folder.rglob("*.md")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    if len(found) > MAX_FILES:
        raise InputRefused(f"has more than {MAX_FILES} Markdown files; choose a smaller one", at=str(folder))
    yield from found


def _is_no_record(stem: str) -> bool:
    return stem.casefold() in _NOT_RECORDS or _TEMPLATE.fullmatch(stem.casefold()) is not None


def _read(path: str, file: Path, defaults: Defaults) -> DecisionRecord:
    text = _text(path, file)
    try:
        return parse(text, defaults)
    except InputRefused as error:
        raise InputRefused(str(error), at=path) from error


def _text(path: str, file: Path) -> str:
    shown = path.encode(errors="replace").decode()
    if shown != path:
        raise InputRefused("has a name that is no UTF-8 text; rename it", at=shown)
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise InputRefused(f"has more than {MAX_FILE_BYTES} bytes", at=path)
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefused(f"cannot be read as UTF-8 text: {type(error).__name__}", at=path) from None


def _record(entry: DecisionEntry, name: str | None) -> DecisionRecord:
    """The record of a decision, under the name that the team gave it, if it did."""
    relations = entry.relations or ()
    return DecisionRecord(
        **dict(content_of(entry)),
        id=name or str(entry.root_id),
        relations=tuple(NamedRelation(type=each.type, target=str(each.target)) for each in relations),
    )


def _replace(folder: Path, path: str, text: str) -> None:
    """Replace the file as a whole, so that nobody ever reads half of it."""
    file = folder / path
    beside_it = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside_it.write_bytes(text.encode())
        beside_it.replace(file)
    except OSError as error:
        raise InputRefused(f"cannot be written: {type(error).__name__}", at=str(file)) from None
