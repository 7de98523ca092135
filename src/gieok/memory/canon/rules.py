"""When two facts are the same, when one changes another, and what a persona says: pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from gieok.errors import InputRefused
from gieok.memory.blocks import HEADERS
from gieok.memory.canon.records import STATE, Category, Fact, FactDraft, PersonaDraft, PersonaPrompt
from gieok.memory.fields import Language
from gieok.text import normalize, terms

_SECTIONS: dict[Language, tuple[str, str, str]] = {
    "ko": ("[로어북]", "[경계]", "[처음 관계 — 현재 상태가 우선한다]"),
    "en": ("[Lorebook]", "[Boundaries]", "[Relationships at the start — the current state goes first]"),
}


def is_state(category: Category) -> bool:
    """Conversation changes it, and the state block shows it."""
    return category in STATE


def normal_key(key: str) -> str:
    """The one spelling of a key, by which facts are told apart."""
    return normalize(key) or key


def changes(active: FactDraft, draft: FactDraft) -> bool:
    """Whether the draft says anything else. By hand every difference counts; in a turn only another value.

    An extractor finds the same thing again in other capitals and with another weight; that is not news.
    """
    if draft.provenance == "hand":
        return (draft.value, draft.importance, draft.key) != (active.value, active.importance, active.key)
    return normalize(draft.value) != normalize(active.value)


def brought_to_mind(known: Sequence[Fact], query: str, limit: int) -> tuple[Fact, ...]:
    """At most `limit` ordinary facts: by the words that they share with the query, importance and age."""
    # A syllable alone is in too many words to name a fact.
    asked = {term for term in terms(query) if len(term) > 1}

    def place(fact: Fact) -> tuple[int, int, float, bytes]:
        said = normalize(f"{fact.key} {fact.value}")
        shared = sum(term in said for term in asked)
        return -shared, -fact.importance, -fact.valid_from.timestamp(), fact.root_id.bytes

    return tuple(sorted((fact for fact in known if not is_state(fact.category)), key=place)[:limit])


def check_persona(draft: PersonaDraft) -> None:
    """Refuse a persona that holds the header of a block: its own text would pass for state or memory."""
    for place, texts in (
        ("systemPrompt", (draft.system_prompt,)),
        ("card", (draft.card,)),
        ("lorebook", draft.lorebook),
        ("boundaries", draft.boundaries),
        ("relationships", draft.relationships),
    ):
        for text in texts:
            seen = normalize(text)
            found = next((header for header in HEADERS if normalize(header) in seen), None)
            if found:
                raise InputRefused(f"may not hold '{found}', which opens a block of its own", at=place)


def persona_text(persona: PersonaDraft) -> str:
    """All that the author wrote, as the beginning of a system prompt."""
    listed = (persona.lorebook, persona.boundaries, persona.relationships)
    sections = [
        "\n".join((header, *(f"- {entry}" for entry in entries)))
        for header, entries in zip(_SECTIONS[persona.language], listed, strict=True)
        if entries
    ]
    return "\n\n".join(text for text in (persona.system_prompt, persona.card, *sections) if text.strip())


def persona_prompt(persona_id: str, version: int, persona: PersonaDraft) -> PersonaPrompt:
    """The persona as a prompt needs it."""
    return PersonaPrompt(
        id=persona_id,
        version=version,
        name=persona.name,
        language=persona.language,
        system_prompt=persona_text(persona),
    )
