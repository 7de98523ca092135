"""The facts of an exchange as observations, each with the words of the user that prove it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from uuid import NAMESPACE_OID, uuid5

from gieok.adapters.models.offline.facts import facts_in
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.observations import MAX_QUOTE_CHARS, ListedFact, Observation, Speaker
from gieok.text import normalize, terms
from gieok.text.sentence import sentences

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def observe(
    turn: int, said: str, answered: str, listed: Sequence[ListedFact], before: str
) -> Iterator[Observation]:
    """What the user stated or took back in this exchange, and what the character promised or settled."""
    known = {(fact.category, normalize(fact.key)): fact for fact in listed}
    all_found = facts_in(said, answered, [_fact(fact) for fact in listed], before)
    stated = {normalize(found.key) for found in all_found if not found.retracts}
    # A fact that ends and one that begins under the same key are one change: a goal that was reached.
    ended = {
        normalize(found.key): known.get((found.category, normalize(found.key)))
        for found in all_found
        if found.retracts
    }
    for found in all_found:
        key = normalize(found.key)
        if found.retracts and key in stated:
            continue
        meant = known.get((found.category, key)) or ended.get(key)
        speaker: Speaker = "user" if found.provenance == "user" else "assistant"
        quote = _quote(found, said if speaker == "user" else answered)
        if speaker == "assistant" and said and normalize(said) in normalize(quote):
            speaker, quote = "user", _quote(found, said)  # the answer repeats what the user proposed
        if quote:
            yield Observation(
                turn=turn,
                op="retire" if found.retracts else "update" if meant else "add",
                id=meant.id if meant else None,
                category=found.category,
                key=found.key,
                value=found.value,
                quote=quote,
                says=speaker,
                importance=found.importance,
            )


def _fact(listed: ListedFact) -> Fact:
    """A known fact as the rules take it; they read its category, key and value."""
    identity = uuid5(NAMESPACE_OID, listed.id)
    return Fact(
        category=listed.category,
        key=listed.key,
        value=listed.value,
        importance=5,
        provenance="user",
        root_id=identity,
        version=1,
        valid_from=_EPOCH,
    )


def _quote(found: ExtractedFact, text: str) -> str:
    """The sentence that shares most words with the value."""
    wanted = set(terms(f"{found.key} {found.value}"))
    said = [sentence for sentence in sentences(text) if sentence.strip()]
    best = max(said, key=lambda sentence: len(wanted.intersection(terms(sentence))), default="")
    return best.strip()[:MAX_QUOTE_CHARS]
