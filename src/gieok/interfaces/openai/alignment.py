"""Find the stored session that a resent window continues. Pure functions.

A client of chat completions sends its whole conversation with each request, without the id of a session. It
may have left out old messages, and its user may have edited a message, deleted some or asked for another
reply. The window is compared with what is stored by its longest run of equal messages that ends at the last
one:

    stored     u1 a1 u2 a2
    window     u1 a1 u2 a2 u3   continues the session
               u1 a1 u2         another reply to u2: replaces that turn
               u1 a1 x          an edited message: replaces the turns from u2 on
               x                no match: starts a session
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from gieok.memory.sessions.records import Role
from gieok.text import normalize


class Spoken(Protocol):
    """A message with its role."""

    @property
    def role(self) -> Role: ...
    @property
    def content(self) -> str: ...


class Block(NamedTuple):
    """Consecutive messages of one side. Clients merge and split them freely."""

    role: Role
    text: str
    """Normalised, so that spaces, case and invisible characters do not matter."""
    first: int
    """The position of the first of its messages."""


class Match(NamedTuple):
    """How a window fits a stored session."""

    replaces: int | None
    """The position of the first stored message that the window no longer has. None if it continues."""
    equal: int
    """The length of the run: its equal messages."""
    rank: tuple[bool, int, int]
    """Larger is better: a safe match, then the longest run, then the fewest messages to withdraw."""
    is_whole: bool
    """Whether the run reaches the beginning of the window or of the session and no other turn is lost: no
    other session fits better."""


def blocks_of(messages: Iterable[Spoken]) -> list[Block]:
    """The messages with consecutive ones of the same side as one."""
    blocks: list[Block] = []
    for position, message in enumerate(messages):
        text = normalize(message.content)
        if blocks and blocks[-1].role == message.role:
            blocks[-1] = blocks[-1]._replace(text=f"{blocks[-1].text} {text}".strip())
        else:
            blocks.append(Block(message.role, text, position))
    return blocks


def align(window: Sequence[Block], stored: Sequence[Block]) -> Match | None:
    """The best match of a window, which ends with the user's message, with a stored session. None if none.

    Little is needed to continue a session, since nothing is lost by it. Turns are replaced only where two
    messages are equal; the only turn of a session is replaced by the same message alone, so that a greeting
    which begins another conversation withdraws nothing else.
    """
    matches = (_match(window, stored, end) for end in range(len(stored) + 1))
    return max((match for match in matches if match), key=lambda match: match.rank, default=None)


def _match(window: Sequence[Block], stored: Sequence[Block], end: int) -> Match | None:
    """The match in which the last message of the window follows `stored[:end]`."""
    *before, last = window
    compared, equal = _run(before, stored[:end])
    reaches_start = compared == end
    is_whole = reaches_start or compared == len(before)
    if end == len(stored):
        return Match(None, equal, (reaches_start, equal, 0), is_whole) if equal else None
    if stored[end].role != "user":
        return None
    is_repeated = stored[end].text == last.text
    is_last = all(block.role != "user" for block in stored[end + 1 :])
    equal += is_repeated
    if equal < 2 and not (is_repeated and is_last and end == 0):
        return None
    is_safe = is_repeated and is_last
    return Match(stored[end].first, equal, (is_safe, equal, end - len(stored)), is_whole and is_safe)


def _run(window: Sequence[Block], stored: Sequence[Block]) -> tuple[int, int]:
    """The run at the end of both: how many messages it compares, and how many of them are equal.

    A reply that the client has changed, by trimming it or because its user edited it, does not end the run
    if the message before it is equal.
    """
    compared = equal = 0
    pairs = list(zip(reversed(window), reversed(stored), strict=False))
    for index, (own, other) in enumerate(pairs):
        if own[:2] == other[:2]:
            compared, equal = index + 1, equal + 1
        elif own.role != "assistant" or other.role != "assistant":
            break
    return compared, equal
