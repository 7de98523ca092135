"""A folder of decision records: read all of it, resolve the names in it, and write only what changed."""

from __future__ import annotations

import json
import os
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple
from uuid import UUID, uuid5

from gieok.errors import InputRefused, NotFound
from gieok.interfaces.markdown.records import (
    DecisionRecord,
    Defaults,
    NamedRelation,
    parse,
    parse_extras,
    render,
)
from gieok.memory.decisions.exchange import DecisionEntry
from gieok.memory.decisions.records import ProposedRelation, content_of

MAX_FILE_BYTES = 256 * 1024
MAX_FILES = 20_000

_NAMESPACE = UUID("1b6a3c52-6f0e-5d0c-9b1e-0c7d0a6f4e21")
_SLUG_CHARS = 48
_NOT_RECORDS = frozenset({"readme", "index", "template", "contributing", "changelog", "license"})
_TEMPLATE = re.compile(
    r"(?:\d+[-_ ]+)?(?:(?:m?adr|decision|record)[-_ ]+)*template(?:[-_ ]+(?:bare|minimal|short|long|full))*"
)
"""The name of a template file. A decision about templates has more words in its name."""

WriteOutcome = Literal["written", "unchanged", "left"]
"""`left`: the file was not changed because its record is not in force, or because it is a symbolic link."""


class RecordFile(NamedTuple):
    """A record and its path in the folder, with `/` on every system."""

    path: str
    record: DecisionRecord


class SkippedFile(NamedTuple):
    """A Markdown file without a decision in force."""

    path: str
    reason: str
    name: str | None
    """The name of the decision; None for a file that is not a record."""


class Folder(NamedTuple):
    """The contents of a folder: records in force, and the other Markdown files."""

    files: Sequence[RecordFile]
    skipped: Sequence[SkippedFile]


# --- Reading ---


def read_folder(folder: Path, defaults: Defaults) -> Folder:
    """Every record in a folder and its subfolders, sorted by path. InputRefused names an invalid file."""
    return read_records(_markdown_files(folder), defaults)


def read_records(found: Iterable[tuple[str, Path | bytes]], defaults: Defaults) -> Folder:
    """The records among these Markdown files, given by path and file or content. InputRefused as above."""
    files: list[RecordFile] = []
    skipped: list[SkippedFile] = []
    for path, file in found:
        stem = PurePosixPath(path).stem.casefold()
        if stem in _NOT_RECORDS or _TEMPLATE.fullmatch(stem):
            skipped.append(SkippedFile(path, "not a record", None))
            continue
        text = _read_text(path, file)
        try:
            record = parse(text, defaults)
        except InputRefused as error:
            raise InputRefused(str(error), at=path) from error
        if record.status == "accepted":
            files.append(RecordFile(path, record))
        else:
            skipped.append(SkippedFile(path, record.status, record.id or path))
    return Folder(files, skipped)


def _markdown_files(folder: Path) -> Iterator[tuple[str, Path]]:
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}")
    files = sorted(
        (file.relative_to(folder).as_posix(), file)
        for file in folder.rglob("*.md")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
    if len(files) > MAX_FILES:
        raise InputRefused(f"has more than {MAX_FILES} Markdown files; choose a smaller one", at=str(folder))
    yield from files


def _read_text(path: str, file: Path | bytes) -> str:
    printable_path = path.encode(errors="replace").decode()
    if printable_path != path:
        raise InputRefused("has a name that is not UTF-8; rename it", at=printable_path)
    try:
        content = file if isinstance(file, bytes) else _read_bytes(file)
        if len(content) > MAX_FILE_BYTES:
            raise InputRefused(f"has more than {MAX_FILE_BYTES} bytes", at=path)
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefused(f"cannot be read as UTF-8 text: {type(error).__name__}", at=path) from None


def _read_bytes(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(MAX_FILE_BYTES + 1)


# --- Names: an id, a name that the team chose, or the path of the file ---


def root_id(owner: str, name: str, space: str | None = None) -> UUID:
    """The root id of the decision with this name. An id is its own name; other names are hashed.

    `space` is the name of the folder: the same name in two spaces means two decisions.
    """
    qualified = f"{owner}\n{name}" if space is None else json.dumps([owner, space, name], ensure_ascii=False)
    return _as_uuid(name) or uuid5(_NAMESPACE, unicodedata.normalize("NFC", qualified))


def entries(owner: str, files: Sequence[RecordFile], space: str | None = None) -> list[DecisionEntry]:
    """The decisions of these files, with every name replaced by an id.

    InputRefused where two files have the same id, or a relation's target is unknown or ambiguous.
    """
    roots = _roots(owner, files, space)
    names = _names(files, roots)
    return [
        DecisionEntry(
            **dict(content_of(file.record)),
            root_id=roots[file.path],
            relations=_relations(file, names),
            is_named=_as_uuid(_name(file)) is None,
        )
        for file in files
    ]


def _as_uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def _name(file: RecordFile) -> str:
    return file.record.id or file.path


def _roots(owner: str, files: Sequence[RecordFile], space: str | None) -> dict[str, UUID]:
    """The root id of each path."""
    paths: dict[UUID, str] = {}
    for file in files:
        other = paths.setdefault(root_id(owner, _name(file), space), file.path)
        if other != file.path:
            raise InputRefused(f"has the same id as {other}; give each its own", at=file.path)
    return {path: root for root, path in paths.items()}


def _names(files: Sequence[RecordFile], roots: Mapping[str, UUID]) -> Mapping[str, UUID | None]:
    """Every name of a decision: id, file name and path. None for an ambiguous name."""
    names: dict[str, UUID | None] = {}
    for file in files:
        root, base = roots[file.path], posixpath.basename(file.path)
        for name in {_name(file), base, base.removesuffix(".md")}:
            names[name] = root if names.get(name, root) == root else None
    names.update(roots)
    return names


def _relations(file: RecordFile, names: Mapping[str, UUID | None]) -> tuple[ProposedRelation, ...] | None:
    if file.record.relations is None:
        return None
    return tuple(
        ProposedRelation(type=relation.type, target=_target(file.path, relation.target, names))
        for relation in file.record.relations
    )


def _target(path: str, name: str, names: Mapping[str, UUID | None]) -> UUID:
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    target = _as_uuid(name) or names.get(relative) or names.get(name)
    if target is None:
        problem = "more than one record is called" if name in names else "no record in the folder is called"
        raise InputRefused(
            f"{problem} '{name}'; give a relation's target as an id, a file or a path in the folder",
            at=f"{path}: relations",
        )
    return target


# --- Writing ---


class FolderWriter:
    """Writes decisions to a folder, which is created if necessary.

    A decision keeps the file that it has, whatever its name and format, and the file is rewritten only where
    its content differs. A file whose record is not in force is left alone, and so is a symbolic link. No file
    is removed.
    """

    def __init__(self, folder: Path, owner: str, space: str | None = None) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputRefused(f"cannot be a folder: {type(error).__name__}", at=str(folder)) from None
        self._folder = folder
        self._owner = owner
        self._space = space
        self._contents = read_folder(folder, Defaults())
        self._files_by_space: dict[str | None, dict[UUID, _ExistingFile]] = {}
        self.written: list[tuple[str, WriteOutcome]] = []
        """Every path so far, and what was done to it."""

    def write(self, decisions: Iterable[DecisionEntry]) -> None:
        """Bring the files of these decisions up to date."""
        self.written += [self._write(decision) for decision in decisions]

    def _write(self, decision: DecisionEntry) -> tuple[str, WriteOutcome]:
        existing = self._existing_file(decision)
        if existing is None:
            path = _new_file_name(decision)
            _replace_file(self._folder, path, render(_record(decision, None)))
            return path, "written"
        file = self._folder / existing.path
        if not existing.is_valid or file.is_symlink():
            return existing.path, "left"
        text = _read_text(existing.path, file)
        if _is_up_to_date(text, existing, decision):
            return existing.path, "unchanged"
        _replace_file(
            self._folder, existing.path, render(_record(decision, existing.name), parse_extras(text))
        )
        return existing.path, "written"

    def _existing_file(self, decision: DecisionEntry) -> _ExistingFile | None:
        """The folder may have been imported under this space, under its domain, or without a name."""
        for space in dict.fromkeys((self._space, decision.domain, None)):
            if space not in self._files_by_space:
                self._files_by_space[space] = _existing_files(self._owner, self._contents, space)
            if existing := self._files_by_space[space].get(decision.root_id):
                return existing
        return None


class _ExistingFile(NamedTuple):
    """The file of a decision, with the decision's name and relations in it."""

    path: str
    name: str | None
    relations: tuple[ProposedRelation, ...]
    is_valid: bool


def _existing_files(owner: str, folder: Folder, space: str | None) -> dict[UUID, _ExistingFile]:
    files = {
        root_id(owner, each.name, space): _ExistingFile(each.path, each.name, (), is_valid=False)
        for each in folder.skipped
        if each.name
    }
    for entry, file in zip(entries(owner, folder.files, space), folder.files, strict=True):
        existing = _ExistingFile(file.path, file.record.id, entry.relations or (), is_valid=True)
        files.setdefault(entry.root_id, existing)
    return files


def _is_up_to_date(text: str, existing: _ExistingFile, decision: DecisionEntry) -> bool:
    """Whether a file matches the stored decision. What the file leaves out was set at its import."""
    record = parse(text, Defaults(decision.strength, decision.domain))
    return content_of(record) == decision.content and set(existing.relations) == set(decision.relations or ())


def _record(entry: DecisionEntry, name: str | None) -> DecisionRecord:
    """The record of a decision, with the team's name for it if there is one."""
    relations = entry.relations or ()
    return DecisionRecord(
        **dict(content_of(entry)),
        id=name or str(entry.root_id),
        relations=tuple(NamedRelation(type=each.type, target=str(each.target)) for each in relations),
    )


def _new_file_name(entry: DecisionEntry) -> str:
    """Some words of the statement, and the start of the id."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", entry.statement.casefold()))
    slug = "-".join(words)[:_SLUG_CHARS].strip("-_")
    return f"{slug}-{entry.root_id.hex[:8]}.md" if slug else f"{entry.root_id.hex}.md"


def _replace_file(folder: Path, path: str, text: str) -> None:
    """Replace a file atomically, so that nobody reads half of it."""
    file = folder / path
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        temporary.write_bytes(text.encode())
        temporary.replace(file)
    except OSError as error:
        raise InputRefused(f"cannot be written: {type(error).__name__}", at=str(file)) from None
