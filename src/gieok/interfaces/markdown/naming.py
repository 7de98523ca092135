"""Which decision a name means: its id, a name that the team gave it, or the file that it stands in."""

from __future__ import annotations

import json
import posixpath
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID, uuid5

from gieok.errors import InputRefused
from gieok.interfaces.markdown.record import DecisionRecord
from gieok.memory.decisions.exchange import DecisionEntry, content_of
from gieok.memory.decisions.records import ProposedRelation

_NAMESPACE = UUID("1b6a3c52-6f0e-5d0c-9b1e-0c7d0a6f4e21")
_SLUG_CHARS = 48


class RecordFile(NamedTuple):
    """A record and where in its folder it stands, with `/` on every system."""

    path: str
    record: DecisionRecord


def root_id(owner: str, name: str, space: str | None = None) -> UUID:
    """The decision that a name means: itself where it is an id, the same one each time otherwise.

    `space` is what the folder is called: the same name in two spaces is two decisions.
    """
    whole = f"{owner}\n{name}" if space is None else json.dumps([owner, space, name], ensure_ascii=False)
    return as_uuid(name) or uuid5(_NAMESPACE, unicodedata.normalize("NFC", whole))


def as_uuid(name: str) -> UUID | None:
    """The id that a name is, or None."""
    try:
        return UUID(name)
    except ValueError:
        return None


def entries(owner: str, files: Sequence[RecordFile], space: str | None = None) -> list[DecisionEntry]:
    """The decisions that the files stand for, with every name in them resolved.

    InputRefused where two files are the same decision, or a relation names none.
    """
    roots = _roots(owner, files, space)
    names = _names(files, roots)
    return [
        DecisionEntry(
            **dict(content_of(file.record)),
            root_id=roots[file.path],
            relations=_relations(file, names),
            is_named=as_uuid(_name(file)) is None,
        )
        for file in files
    ]


def file_name(entry: DecisionEntry) -> str:
    """The name of a new file for a decision: some words of it, and the start of its id."""
    words = re.findall(r"\w+", unicodedata.normalize("NFC", entry.statement.casefold()))
    slug = "-".join(words)[:_SLUG_CHARS].strip("-_")
    return f"{slug}-{entry.root_id.hex[:8]}.md" if slug else f"{entry.root_id.hex}.md"


def _name(file: RecordFile) -> str:
    return file.record.id or file.path


def _roots(owner: str, files: Sequence[RecordFile], space: str | None) -> dict[str, UUID]:
    paths: dict[UUID, str] = {}
    for file in files:
        other = paths.setdefault(root_id(owner, _name(file), space), file.path)
        if other != file.path:
            raise InputRefused(f"has the same id as {other}; give each its own", at=file.path)
    return {path: root for root, path in paths.items()}


def _names(files: Sequence[RecordFile], roots: Mapping[str, UUID]) -> Mapping[str, UUID | None]:
    """Every name that means a decision; None where it could mean several."""
    names: dict[str, UUID | None] = {}
    for file in files:
        base = posixpath.basename(file.path)
        for name in {_name(file), base, base.removesuffix(".md")}:
            known = names.get(name, roots[file.path])
            names[name] = known if known == roots[file.path] else None
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
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    found = as_uuid(name) or names.get(beside) or names.get(name)
    if found is None:
        several = "more than one record is" if name in names else "no record in the folder is"
        raise InputRefused(
            f"{several} '{name}'; name a relation's target by its id, its file or its whole path",
            at=f"{path}: relations",
        )
    return found
