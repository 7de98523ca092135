"""Rules of sessions: inactivity, checks before a write, and which messages are due for a summary."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid5

from gieok.errors import Conflict, InputRefused, NotFound, PlanHashMismatch, SessionEnded
from gieok.memory.observations import Exchange, Observation, TurnNote
from gieok.memory.sessions.records import MAX_MESSAGES, ChatMessage, MessageHead, MessageRange, Role, Session
from gieok.text import normalize

_WATCHES = UUID("5a0c8f0e-7c3e-4f0b-9a55-1d1f4c6f2b7e")


def watch_id(session_ref: str) -> UUID:
    """The id of the inactivity job of a session; there is one per session."""
    return uuid5(_WATCHES, session_ref)


def inactive_from(session: Session, inactivity_minutes: int) -> datetime:
    """The time at which the session ends unless it is used before."""
    return session.last_activity_at + timedelta(minutes=inactivity_minutes)


def check_active(session: Session, inactivity_minutes: int, now: datetime) -> None:
    """Raise SessionEnded if the session was inactive for too long, even if no worker has ended it yet."""
    if inactive_from(session, inactivity_minutes) <= now:
        raise SessionEnded(
            f"this session ended after {inactivity_minutes} minutes of inactivity; start a new one, "
            "which can recall it"
        )


def is_cleared(session: Session) -> bool:
    """Whether the window is empty: the session has ended and memories cover all of its messages."""
    return session.ended_at is not None and session.summarized_count == session.log_length


def window_size(log_length: int, covered: int, *, recent_messages: int, keep_messages: int) -> int:
    """How many of the last messages are in the window.

    The first `covered` ones, which memories cover, leave it, except for the last `keep_messages`.
    """
    return min(recent_messages, max(log_length - covered, keep_messages))


def check_open(session: Session) -> None:
    """Raise SessionEnded if the session has ended."""
    if session.ended_at is not None:
        raise SessionEnded("this session has ended; start a new one, which can recall it")


def check_resumable(session: Session, plan_hash: str, persona_id: str | None) -> None:
    """Refuse a session that has ended, that ran another plan, or that is with another persona."""
    check_open(session)
    if session.last_execution_plan_hash != plan_hash:
        raise PlanHashMismatch(session.last_execution_plan_hash, plan_hash)
    if None not in (persona_id, session.persona_id) and persona_id != session.persona_id:
        raise Conflict("this session is with another persona; start a session with this one")


def check_appendable(session: Session, expected_revision: int | None) -> None:
    """Refuse new messages if the session has ended, has no persona, or was changed since this revision."""
    check_open(session)
    if session.persona_id is None:
        raise InputRefused("has no persona, so its messages could not be summarised", at="sessionRef")
    if expected_revision is not None and session.revision != expected_revision:
        raise Conflict(
            "messages of the session were added or withdrawn while the reply was made; send the message again"
        )


def check_batch(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Refuse an empty batch, or more messages than may be saved at once."""
    if not 1 <= len(messages) <= MAX_MESSAGES:
        raise ValueError(f"must be 1 to {MAX_MESSAGES} messages")
    if any(message.withdrawn_at is not None for message in messages):
        raise ValueError("must not be withdrawn")
    return messages


def exchange_ends(roles: Sequence[Role], *, is_over: bool) -> list[int]:
    """The number of messages up to the end of each complete exchange: the user's messages and the answers.

    Messages that wait for an answer are no exchange yet, unless the session is over.
    """
    ends = [
        number
        for number, (role, following) in enumerate(zip(roles, (*roles[1:], "user"), strict=False), start=1)
        if role == "assistant" and following == "user"
    ]
    return [*ends, len(roles)] if is_over and roles and (not ends or ends[-1] < len(roles)) else ends


def unremembered(
    waiting: Sequence[MessageHead], *, every: int, at_most: int, is_over: bool
) -> list[MessageRange]:
    """The message ranges to be remembered, each of at most `at_most` exchanges.

    `waiting` are the messages that no job remembers yet. They wait for `every` exchanges, unless nothing
    follows them.
    """
    ends = exchange_ends([head.role for head in waiting], is_over=is_over)
    if len(ends) < (1 if is_over else every):
        return []
    groups = [ends[index : index + at_most][-1] for index in range(0, len(ends), at_most)]
    return [
        MessageRange(first=waiting[begin].seq, last=waiting[end - 1].seq)
        for begin, end in zip((0, *groups), groups, strict=False)
    ]


def labels_of(
    exchanges: Sequence[Exchange], notes: Sequence[TurnNote], observations: Sequence[Observation]
) -> dict[str, list[str]]:
    """The words by which messages are found besides their own, by message id.

    The keywords of an exchange describe the user's last message in it. The key and the value of an
    observation describe the message of its speaker that has the quote, or else the speaker's last one.
    """
    labels: dict[str, list[str]] = {}

    def add(exchange: Exchange, role: Role, quote: str, words: Sequence[str]) -> None:
        own = [each for each in exchange.messages if each.role == role] or exchange.messages
        having = [each for each in own if quote and normalize(quote) in normalize(each.text)]
        message = (having or own)[-1]
        if message.id is not None:
            labels.setdefault(message.id, []).extend(words)

    for exchange, note in zip(exchanges, notes, strict=True):
        add(exchange, "user", "", note.keywords)
    for each in observations:
        if each.turn <= len(exchanges):
            add(exchanges[each.turn - 1], each.says, each.quote, (each.key, each.value))
    return {message_id: words for message_id, words in labels.items() if words}


def unclaimed(
    session: Session, waiting: Sequence[MessageHead], *, summarize_after: int, at_most: int
) -> list[MessageRange]:
    """The message ranges that are due for a summary, each of at most `at_most` messages.

    `waiting` are the messages that no summary covers. An open session waits for `summarize_after` of them; in
    an ended one all are due. The ranges follow each other without a gap and reach to the end of the log.
    """
    if len(waiting) < (1 if session.ended_at is not None else summarize_after):
        return []
    full = [head.seq for head in waiting[at_most - 1 : -1 : at_most]]
    lasts = [*full, session.log_length]
    firsts = (session.claimed_count, *lasts)
    return [MessageRange(first=before + 1, last=last) for before, last in zip(firsts, lasts, strict=False)]


def exchange_start(live: Sequence[MessageHead], index: int) -> int:
    """The index of the first message of the exchange that contains the message at `index`."""
    while index and (live[index - 1].role, live[index].role) != ("assistant", "user"):
        index -= 1
    return index


def turns_from(heads: Sequence[MessageHead], turn_id: str | None) -> Sequence[MessageHead]:
    """The messages from the beginning of the turn with this message on, or of the last turn.

    Empty if it was withdrawn. Raises NotFound if there is none.
    """
    if any(head.id == turn_id and head.is_withdrawn for head in heads):
        return ()
    live = [head for head in heads if not head.is_withdrawn]
    found = [index for index, head in enumerate(live) if turn_id in (None, head.id)]
    if not found:
        raise NotFound("no such turn in this session")
    return live[exchange_start(live, found[-1]) :]
