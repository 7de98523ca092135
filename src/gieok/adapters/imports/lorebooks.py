"""Lorebooks of other programs: `character_book` of a card, `lorebook_v3`, and World Info of SillyTavern.

What Gieok does not use is kept as it was and written back by an export.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import JsonValue, ValidationError

from gieok.engine import Data
from gieok.engine.plan import first_problem, place
from gieok.errors import InputRefused
from gieok.memory.canon.lore import is_pattern
from gieok.memory.canon.records import MAX_LORE_ENTRIES, KeyedLorebook, LoreEntry, LoreLogic

R = TypeVar("R", bound=Data)
Fields = dict[str, Any]
"""A JSON object of a file."""

_LOGIC: tuple[LoreLogic, ...] = ("any", "not_all", "not_any", "all")
"""`selectiveLogic` of SillyTavern by its number."""
_MAX_DEPTH = 1_000
_INT_MAX = 2**31 - 1

_WORLD_INFO = {
    "key": "keys",
    "keysecondary": "secondary_keys",
    "order": "insertion_order",
    "uid": "id",
    "content": "content",
    "constant": "constant",
    "selective": "selective",
    "comment": "comment",
}
"""Fields of an entry of World Info, and their names in a card."""
_WORLD_INFO_EXTENSIONS = {
    "selectiveLogic": "selectiveLogic",
    "scanDepth": "scan_depth",
    "caseSensitive": "case_sensitive",
    "matchWholeWords": "match_whole_words",
    "excludeRecursion": "exclude_recursion",
    "preventRecursion": "prevent_recursion",
    "delayUntilRecursion": "delay_until_recursion",
    "displayIndex": "display_index",
    "groupOverride": "group_override",
    "groupWeight": "group_weight",
    "useGroupScoring": "use_group_scoring",
    "automationId": "automation_id",
}
"""Fields that a card has in `extensions`; all others keep their name there."""
_ENTRY = frozenset({"keys", "content", "enabled", "insertion_order", "case_sensitive", "constant"}) | {
    "name",
    "priority",
    "selective",
    "secondary_keys",
}
_BOOK = frozenset({"entries", "scan_depth", "token_budget", "recursive_scanning"})
_EXTENSIONS = frozenset({"selectiveLogic", "scan_depth", "case_sensitive", "match_whole_words"}) | {
    "exclude_recursion",
    "prevent_recursion",
}


class ReadLorebook(NamedTuple):
    """A lorebook, and the names of the fields that are kept but not used."""

    book: KeyedLorebook
    kept: tuple[str, ...]


def lorebook_in(value: Any) -> Fields | None:
    """The lorebook of a file that contains nothing else, in the form of a card; None if it is no lorebook."""
    if not isinstance(value, dict):
        return None
    given = cast("Fields", value)
    if given.get("spec") == "lorebook_v3" and isinstance(given.get("data"), dict):
        return given["data"]
    entries = given.get("entries")
    if isinstance(entries, dict):
        listed = [_from_world_info(each) for each in cast("Fields", entries).values()]
        others = {name: each for name, each in given.items() if name not in ("entries", "originalData")}
        return {**others, "entries": listed}
    return given if isinstance(entries, list) and "data" not in given else None


def _from_world_info(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    given = cast("Fields", entry)
    made: Fields = {"enabled": not given.get("disable", False)}
    extensions: Fields = {}
    for name, value in given.items():
        if name in _WORLD_INFO:
            made[_WORLD_INFO[name]] = value
        elif name != "disable":
            extensions[_WORLD_INFO_EXTENSIONS.get(name, name)] = value
    return {**made, "extensions": extensions}


def read_lorebook(given: Any, at: str) -> ReadLorebook:
    """Read a lorebook in the form of a card. InputRefused with the place that is wrong."""
    fields = obj(given, at)
    entries = fields.get("entries")
    if not isinstance(entries, list):
        raise InputRefused("must be a list", at=f"{at}.entries")
    listed = cast("list[Any]", entries)
    if len(listed) > MAX_LORE_ENTRIES:
        raise InputRefused(f"has {len(listed)} entries, and may have {MAX_LORE_ENTRIES}", at=f"{at}.entries")
    read = tuple(_entry(each, f"{at}.entries[{index}]") for index, each in enumerate(listed))
    book = record(
        KeyedLorebook,
        at,
        entries=read,
        scan_depth=_number(fields, "scan_depth", at, 0, _MAX_DEPTH),
        token_budget=_number(fields, "token_budget", at, 0, 1_000_000),
        recursive=_flag(fields, "recursive_scanning", at),
        kept={name: value for name, value in fields.items() if name not in _BOOK and _counts(name, value)},
    )
    names = [f"{at}.{name}" for name in book.kept]
    names += sorted({f"{at}.entries.{name}" for each in read for name in _unused(each)})
    return ReadLorebook(book, tuple(names))


def _unused(entry: LoreEntry) -> set[str]:
    extensions = entry.kept.get("extensions")
    inside = cast("Fields", extensions) if isinstance(extensions, dict) else {}
    named = entry.kept.keys() - {"extensions", "use_regex", "comment"}
    if any(is_pattern(entry, key) for key in (*entry.keys, *entry.secondary_keys)):
        named |= {"keys (regular expressions)"}
    return named | {f"extensions.{name}" for name in inside if name not in _EXTENSIONS}


def _entry(given: Any, at: str) -> LoreEntry:
    fields = obj(given, at)
    extensions = obj(fields.get("extensions") or {}, f"{at}.extensions")
    logic = extensions.get("selectiveLogic")
    case_sensitive = _flag(fields, "case_sensitive", at)
    if case_sensitive is None:
        case_sensitive = _flag(extensions, "case_sensitive", at)
    whole_words = _flag(extensions, "match_whole_words", at)
    name = text(fields, "name", at) or text(fields, "comment", at)[:1_000]
    # SillyTavern writes `use_regex` for every entry, and means keys of the form /pattern/.
    use_regex = _flag(fields, "use_regex", at) is True
    regex = use_regex and "display_index" not in extensions
    known = {"use_regex": regex, "comment": name}
    return record(
        LoreEntry,
        at,
        keys=_keys(fields, "keys", at),
        secondary_keys=_keys(fields, "secondary_keys", at),
        content=text(fields, "content", at),
        name=name,
        enabled=_flag(fields, "enabled", at) is not False,
        constant=_flag(fields, "constant", at) is True,
        selective=_flag(fields, "selective", at) is True,
        logic=_LOGIC[logic] if type(logic) is int and 0 <= logic < len(_LOGIC) else "any",
        case_sensitive=case_sensitive is True,
        whole_words=whole_words is not False,
        regex=regex,
        scan_depth=_number(extensions, "scan_depth", at, 0, _MAX_DEPTH),
        order=_number(fields, "insertion_order", at, -_INT_MAX, _INT_MAX) or 0,
        priority=_number(fields, "priority", at, -_INT_MAX, _INT_MAX),
        found_by_others=_flag(extensions, "exclude_recursion", at) is not True,
        finds_others=_flag(extensions, "prevent_recursion", at) is not True,
        kept={
            name: value
            for name, value in fields.items()
            if name not in _ENTRY and known.get(name) != value and _counts(name, value)
        },
    )


def _counts(name: str, value: Any) -> bool:
    """Whether a field is worth keeping: every lorebook must have `extensions`, which are often empty."""
    return name != "extensions" or bool(value)


def write_lorebook(book: KeyedLorebook, constants: Sequence[str] = ()) -> Fields:
    """The lorebook in the form of a card V3. `constants` are texts that always enter the prompt."""
    made: Fields = {**book.kept, "extensions": book.kept.get("extensions") or {}}
    for name, value in (
        ("scan_depth", book.scan_depth),
        ("token_budget", book.token_budget),
        ("recursive_scanning", book.recursive),
    ):
        if value is not None:
            made[name] = value
    always = [
        LoreEntry(content=each, constant=True, order=index, kept={"extensions": {CONSTANT: True}})
        for index, each in enumerate(constants)
    ]
    made["entries"] = [_written(each) for each in (*always, *book.entries)]
    return made


CONSTANT = "gieok_lorebook"
"""The extension that marks an entry for a text of the persona's lorebook without keys."""


def _written(entry: LoreEntry) -> Fields:
    kept = entry.kept.get("extensions")
    extensions: Fields = dict(cast("Mapping[str, JsonValue]", kept)) if isinstance(kept, dict) else {}
    for name, value, default in (
        ("selectiveLogic", _LOGIC.index(entry.logic), 0),
        ("scan_depth", entry.scan_depth, None),
        ("match_whole_words", entry.whole_words, True),
        ("case_sensitive", entry.case_sensitive, False),
        ("exclude_recursion", not entry.found_by_others, False),
        ("prevent_recursion", not entry.finds_others, False),
    ):
        if value != default or (extensions.get(name) is not None and name in extensions):
            extensions[name] = value
    made: Fields = {
        **entry.kept,
        "keys": list(entry.keys),
        "content": entry.content,
        "extensions": extensions,
        "enabled": entry.enabled,
        "insertion_order": entry.order,
        "case_sensitive": entry.case_sensitive,
        "use_regex": entry.kept.get("use_regex", entry.regex),
        "constant": entry.constant,
        "name": entry.name,
        "selective": entry.selective,
        "secondary_keys": list(entry.secondary_keys),
    }
    made.setdefault("comment", entry.name)
    return made if entry.priority is None else {**made, "priority": entry.priority}


def obj(value: Any, at: str) -> Fields:
    """The JSON object at this place. InputRefused if it is something else."""
    if not isinstance(value, dict):
        raise InputRefused("must be an object", at=at)
    return cast("Fields", value)


def text(fields: Fields, name: str, at: str) -> str:
    """The text in this field; empty without it. InputRefused if it is not text."""
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputRefused("must be text", at=f"{at}.{name}")
    return value


def _keys(fields: Fields, name: str, at: str) -> tuple[str, ...]:
    """Keys as a list, or as one text with commas."""
    value = fields.get(name)
    given = value.split(",") if isinstance(value, str) else value
    if given is None:
        return ()
    listed = cast("list[Any]", given) if isinstance(given, list) else [given]
    if not all(isinstance(each, str) for each in listed):
        raise InputRefused("must be a list of texts", at=f"{at}.{name}")
    return tuple(each.strip() for each in cast("list[str]", listed) if each.strip())


def _flag(fields: Fields, name: str, at: str) -> bool | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise InputRefused("must be true or false", at=f"{at}.{name}")
    return value


def _number(fields: Fields, name: str, at: str, least: int, most: int) -> int | None:
    """The number, rounded and brought into its range."""
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputRefused("must be a number", at=f"{at}.{name}")
    return int(max(least, min(most, value)))


def record(kind: type[R], at: str, **values: Any) -> R:
    """Make a record. InputRefused with the place in the file that is wrong."""
    try:
        return kind(**values)
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(message, at=f"{at}.{place(location)}") from None


def merge(book: KeyedLorebook, added: KeyedLorebook) -> KeyedLorebook:
    """The book with the entries of another; an entry that it has already is not added again.

    The settings of the added book apply where it has them.
    """
    known = {_identity(each) for each in book.entries}
    entries = tuple(each for each in added.entries if _identity(each) not in known)
    settings = {
        name: getattr(added, name) if getattr(added, name) is not None else getattr(book, name)
        for name in ("scan_depth", "token_budget", "recursive")
    }
    return record(
        KeyedLorebook,
        "lorebook",
        entries=book.entries + entries,
        kept={**book.kept, **added.kept},
        **settings,
    )


def _identity(entry: LoreEntry) -> str:
    return json.dumps([entry.keys, entry.secondary_keys, entry.content])
