"""Character cards V1, V2 and V3 to personas and back.

A persona keeps the fields of its card. Texts that were not edited since are exported as they came, and
fields that Gieok does not use are exported unchanged.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from gieok.adapters.imports.files import Opened, open_card_file
from gieok.adapters.imports.lorebooks import (
    CONSTANT,
    Fields,
    lorebook_in,
    obj,
    read_lorebook,
    record,
    text,
    write_lorebook,
)
from gieok.errors import InputRefused
from gieok.memory.canon.records import EMPTY_LOREBOOK, KeyedLorebook, PersonaDraft
from gieok.memory.canon.rules import author_sections
from gieok.text import language

_PROMPT = ("system_prompt", "post_history_instructions")
_CARD = ("description", "personality", "scenario", "mes_example")
_LABELS = {
    "ko": {"personality": "성격: ", "scenario": "상황: ", "mes_example": "말투 예시:\n"},
    "en": {"personality": "Personality: ", "scenario": "Scenario: ", "mes_example": "Example dialogue:\n"},
}
_USED = frozenset({"name", "character_book", "extensions", *_PROMPT, *_CARD})
_V1 = frozenset({"name", "first_mes", *_CARD})
"""The fields of a card V1. V2 files repeat some beside `data`; those are not kept twice."""
_LISTS = ("alternate_greetings", "tags", "group_only_greetings")
_TEXTS = ("first_mes", "creator_notes", "creator", "character_version", *_PROMPT, *_CARD)
_EXTENSION = "gieok"
_SCRIPT = re.compile(r"<\s*script\b|javascript\s*:", re.IGNORECASE)
_ANGLED = re.compile(r"<(bot|char|user)>", re.IGNORECASE)
_BRACED = {"bot": "{{char}}", "char": "{{char}}", "user": "{{user}}"}
_EMBEDDED = ("data:", "embeded://", "embedded://", "__asset:")


@dataclass(frozen=True)
class ReadCard:
    """A card as a persona, the names of fields that are kept but not used, and of parts that are not kept."""

    draft: PersonaDraft
    kept: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class ReadBook:
    """A file with a lorebook only; `kept` as in ReadCard."""

    book: KeyedLorebook
    kept: tuple[str, ...]


def read_file(content: bytes) -> ReadCard | ReadBook:
    """Read a card (PNG, JSON, CHARX) or a lorebook (JSON). InputRefused says what is wrong and where."""
    return read_value(open_card_file(content))


def read_value(opened: Opened) -> ReadCard | ReadBook:
    """Read a card or a lorebook from its JSON."""
    book = lorebook_in(opened.value)
    if book is not None:
        read = read_lorebook(book, "lorebook")
        _check_scripts(("lorebook", each.content) for each in read.book.entries)
        return ReadBook(read.book, read.kept)
    card = _read_card(obj(opened.value, "card"))
    return replace(card, left_out=tuple(dict.fromkeys((*opened.left_out, *card.left_out))))


def _read_card(card: Fields) -> ReadCard:
    is_v1 = "data" not in card and "name" in card
    data = dict(card if is_v1 else obj(card.get("data"), "data"))
    beside: Fields = {} if is_v1 else {name: card[name] for name in card if name not in _V1 | {"data"}}
    has_embedded = _remove_embedded_assets(data)
    book = read_lorebook(data["character_book"], "character_book") if data.get("character_book") else None
    texts = _texts(data)
    extensions = obj(data.get("extensions") or {}, "data.extensions")
    own = extensions.get(_EXTENSION)
    kept = {**beside, "data": {name: data[name] for name in data if name not in ("name", "character_book")}}
    draft = record(
        PersonaDraft,
        "data",
        name=text(data, "name", "data"),
        system_prompt=texts.system_prompt,
        card=texts.card,
        keyed_lorebook=book.book if book else EMPTY_LOREBOOK,
        kept=kept,
    )
    if isinstance(own, dict):
        draft = _with_own_fields(draft, cast("Fields", own), data)
    used = [("data", draft.name), ("data", draft.system_prompt), ("data", draft.card)]
    _check_scripts([*used, *(("character_book", each.content) for each in draft.keyed_lorebook.entries)])
    names = [name for name in data if name not in _USED and data[name] not in ("", [], {}, None)]
    names += [f"extensions.{name}" for name in extensions if name != _EXTENSION]
    names += [name for name in beside if name not in ("spec", "spec_version")]
    return ReadCard(draft, (*names, *(book.kept if book else ())), ("assets",) if has_embedded else ())


def _remove_embedded_assets(data: Fields) -> bool:
    """Remove assets whose files are in the card or its archive: Gieok keeps no files. True if there were."""
    assets = data.get("assets")
    if not isinstance(assets, list):
        return False
    listed = cast("list[Any]", assets)
    data["assets"] = [each for each in listed if not _is_embedded(each)]
    return len(data["assets"]) < len(listed)


def _is_embedded(asset: Any) -> bool:
    uri = cast("Fields", asset).get("uri") if isinstance(asset, dict) else None
    return isinstance(uri, str) and uri.lower().startswith(_EMBEDDED)


class _Texts(NamedTuple):
    system_prompt: str
    card: str


def _texts(data: Fields) -> _Texts:
    """The texts of a persona, made of the fields of a card."""
    given = {name: text(data, name, "data").strip() for name in (*_PROMPT, *_CARD)}
    given["mes_example"] = re.sub(r"(?im)^\s*<START>\s*$\n?", "", given["mes_example"]).strip()
    labels = _LABELS[language(" ".join(given.values()), default=language(text(data, "name", "data")))]
    given["system_prompt"] = given["system_prompt"].replace("{{original}}", "").strip()
    given = {name: _ANGLED.sub(lambda found: _BRACED[found[1].lower()], each) for name, each in given.items()}
    return _Texts(
        "\n\n".join(given[name] for name in _PROMPT if given[name]),
        "\n\n".join(labels.get(name, "") + given[name] for name in _CARD if given[name]),
    )


def _with_own_fields(draft: PersonaDraft, own: Fields, data: Fields) -> PersonaDraft:
    """Restore what only Gieok has, as its export wrote it, unless another program has edited the prompt."""
    entries = tuple(each for each in draft.keyed_lorebook.entries if not _is_constant(each.kept))
    restored = record(
        PersonaDraft,
        "data.extensions.gieok",
        name=draft.name,
        system_prompt=own.get("systemPrompt", ""),
        card=draft.card,
        language=own.get("language", draft.language),
        keyed_lorebook=draft.keyed_lorebook.model_copy(update={"entries": entries}),
        **{name: tuple(own.get(name) or ()) for name in ("lorebook", "boundaries", "relationships")},
    )
    if _prompt_with_sections(restored) != text(data, "system_prompt", "data"):
        return draft
    kept = {**cast("Fields", draft.kept["data"])}
    kept["extensions"] = {name: each for name, each in kept["extensions"].items() if name != _EXTENSION}
    kept["system_prompt"] = restored.system_prompt
    return restored.model_copy(update={"kept": {**draft.kept, "data": kept}})


def _is_constant(kept: Fields) -> bool:
    extensions = kept.get("extensions")
    return isinstance(extensions, dict) and CONSTANT in extensions


def _prompt_with_sections(persona: PersonaDraft) -> str:
    sections = author_sections(persona.model_copy(update={"lorebook": ()}))
    return "\n\n".join(part for part in (persona.system_prompt, *sections) if part)


def _check_scripts(texts: Any) -> None:
    for place, value in texts:
        if _SCRIPT.search(value):
            raise InputRefused("contains a script, which Gieok does not take into a prompt", at=place)


def write_card(persona: PersonaDraft) -> Fields:
    """The persona as a card V3, with the fields that its own card had."""
    former = persona.kept.get("data")
    data: Fields = {**dict.fromkeys(_TEXTS, ""), **{name: [] for name in _LISTS}, "extensions": {}}
    if isinstance(former, dict):
        data |= former
    before = _texts(data | {"name": persona.name})
    if before.system_prompt != persona.system_prompt:
        data |= {"system_prompt": persona.system_prompt, "post_history_instructions": ""}
    if before.card != persona.card:
        data |= dict.fromkeys(_CARD, "") | {"description": persona.card}
    data["name"] = persona.name
    if persona.lorebook or persona.boundaries or persona.relationships:
        own = {
            "language": persona.language,
            "systemPrompt": persona.system_prompt,
            **{name: list(getattr(persona, name)) for name in ("lorebook", "boundaries", "relationships")},
        }
        data["extensions"] = {**(data["extensions"] or {}), _EXTENSION: own}
        data["system_prompt"] = _prompt_with_sections(persona)
    if persona.lorebook or persona.keyed_lorebook != EMPTY_LOREBOOK:
        data["character_book"] = write_lorebook(persona.keyed_lorebook, persona.lorebook)
    beside = {name: each for name, each in persona.kept.items() if name != "data"}
    return {**beside, "spec": "chara_card_v3", "spec_version": "3.0", "data": data}


def card_bytes(persona: PersonaDraft) -> bytes:
    """The card V3 of the persona as JSON."""
    return json.dumps(write_card(persona), ensure_ascii=False, indent=2).encode()
