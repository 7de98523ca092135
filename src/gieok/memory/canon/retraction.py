"""What the user takes back in the next message: a joke, a slip of the tongue, a no to "really?". Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from uuid import UUID

from gieok.memory.canon.records import Fact, TakenBack
from gieok.memory.observations import Reason, SpokenMessage
from gieok.text import terms
from gieok.text.modality import is_no, misspoke, only_joked
from gieok.text.sentence import is_question, sentences

ASKED = 0.6
"""The share of a note's words in a question of the reply, if the user's no is to take it back."""
_FIRST_WORD = re.compile(
    r"\W*(?:(?:lol|lmao|haha+|oh|um|아|에이|엥|헐|[ㅋㅎ]+)[\s,.!~]+)*+([^\s,.!?~]+)", re.IGNORECASE
)


def taken_back(notes: Sequence[str], reply: str, answer: str) -> tuple[frozenset[int], Reason]:
    """The numbers of the notes (from 0) that `answer`, the user's next message, takes back, and why.

    `notes` are what was learned of a message, `reply` is the character's answer to it. A joke that is owned
    up to takes back all notes. A slip takes back those that it names, or the only one: of several, nobody
    knows which is meant. A no takes back what the reply asks about in the words of the note.
    """
    everything = frozenset(range(len(notes)))
    if only_joked(answer):
        return everything, Reason.JOKE
    said = [frozenset(term for term in terms(note) if not term.isdigit()) for note in notes]  # no dates
    if misspoke(answer):
        words = frozenset(terms(answer))
        named = frozenset(number for number in everything if not said[number].isdisjoint(words))
        return named or (everything if len(notes) == 1 else frozenset[int]()), Reason.NEGATED
    first = _FIRST_WORD.match(answer)
    asked = frozenset(terms(" ".join(filter(is_question, sentences(reply)))))
    if not asked or first is None or not is_no(first[1]):
        return frozenset(), Reason.NEGATED
    enough = [max(2, ASKED * len(note)) for note in said]
    return frozenset(number for number in everything if len(said[number] & asked) >= enough[number]), (
        Reason.NEGATED
    )


def facts_taken_back(
    known: Sequence[Fact],
    before: Sequence[SpokenMessage],
    answer: str,
    session_ref: str,
    changed: Collection[UUID],
) -> TakenBack | None:
    """What `answer`, a message of the user, takes back of the exchange before it; None for nothing.

    `before` are the messages before it, oldest first, and `changed` are the facts that `answer` has changed:
    where facts of that exchange are among them, the model has seen what is meant.
    """
    exchange = _last_exchange(before)
    ids = frozenset(message.id for message in exchange if message.id)
    learned = [
        fact
        for fact in known
        if fact.source and fact.source.session_ref == session_ref and fact.source.message_id in ids
    ]
    if any(fact.root_id in changed for fact in learned):
        return None
    reply = "\n".join(message.text for message in exchange if message.role == "assistant")
    numbers, _ = taken_back([f"{fact.key} {fact.value}" for fact in learned], reply, answer)
    has_only_ended_facts = not learned and (only_joked(answer) or misspoke(answer))
    if not ids or not (numbers or has_only_ended_facts):
        return None
    spared = (fact.root_id for number, fact in enumerate(learned) if number not in numbers)
    return TakenBack(session_ref=session_ref, message_ids=ids, spared=frozenset(spared))


def _last_exchange(before: Sequence[SpokenMessage]) -> Sequence[SpokenMessage]:
    """The last messages of the user, and what was replied to them."""
    start = len(before)
    for role in ("assistant", "user"):
        while start and before[start - 1].role == role:
            start -= 1
    return before[start:]
