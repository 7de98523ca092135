"""A folder of decision records: read whole, and written so that what did not change is not touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.markdown.naming import RecordFile, entries, file_name, root_id
from gieok.interfaces.markdown.parse import Defaults, parse
from gieok.interfaces.markdown.record import DecisionRecord, NamedRelation
from gieok.interfaces.markdown.render import render
from gieok.memory.decisions.exchange import DecisionEntry, content_of

MAX_FILE_BYTES = 256 * 1024
MAX_FILES = 20_000

_NOT_RECORDS = frozenset({"readme", "index", "template", "contributing", "changelog", "license"})


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
    it says something else. A file that says its decision is not in force is left alone. Nothing is removed.
    """

    def __init__(self, folder: Path, owner: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        found = read_folder(folder, Defaults())
        self._folder = folder
        self._kept = {
            entry.root_id: _Kept(file.path, file.record.id, _in_order(entry))
            for entry, file in zip(entries(owner, found.files), found.files, strict=True)
        }
        self._not_in_force = {root_id(owner, each.name): each.path for each in found.skipped if each.name}
        self.written: list[tuple[str, WriteOutcome]] = []
        """Every path so far, and what was done to it."""

    def write(self, decisions: Iterable[DecisionEntry]) -> None:
        """Bring the files of these decisions up to date."""
        self.written += [self._write(decision) for decision in decisions]

    def _write(self, decision: DecisionEntry) -> tuple[str, WriteOutcome]:
        if path := self._not_in_force.get(decision.root_id):
            return path, "left"
        kept = self._kept.get(decision.root_id) or _Kept(file_name(decision), None, None)
        if kept.says == decision:
            return kept.path, "unchanged"
        _replace(self._folder / kept.path, render(_record(decision, kept.id)))
        return kept.path, "written"


class _Kept(NamedTuple):
    """The file of a decision, what the decision is called there, and what the file says."""

    path: str
    id: str | None
    says: DecisionEntry | None


def _in_order(entry: DecisionEntry) -> DecisionEntry:
    """The entry as a store gives it: with its relations in their one order."""
    relations = {(relation.type, relation.target): relation for relation in entry.relations or ()}
    return entry.model_copy(update={"relations": tuple(relations[key] for key in sorted(relations))})


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
    return stem.casefold() in _NOT_RECORDS or "template" in stem.casefold()


def _read(path: str, file: Path, defaults: Defaults) -> DecisionRecord:
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise InputRefused(f"has more than {MAX_FILE_BYTES} bytes", at=path)
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefused(f"cannot be read as UTF-8 text: {type(error).__name__}", at=path) from None
    try:
        return parse(text, defaults)
    except InputRefused as error:
        raise InputRefused(str(error), at=path) from error


def _record(entry: DecisionEntry, name: str | None) -> DecisionRecord:
    """The record of a decision, under the name that the team gave it, if it did."""
    relations = entry.relations or ()
    return DecisionRecord(
        **dict(content_of(entry)),
        id=name or str(entry.root_id),
        relations=tuple(NamedRelation(type=each.type, target=str(each.target)) for each in relations),
    )


def _replace(file: Path, text: str) -> None:
    """Replace the file as a whole, so that nobody ever reads half of it."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_bytes(text.encode())
    beside.replace(file)
