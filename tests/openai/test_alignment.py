"""Which stored session a resent window belongs to, and what of it the window replaces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.interfaces.openai.alignment import align, blocks_of
from gieok.memory.conversation.records import Message

CONTINUES = None
NO_MATCH = "no match"


def said(text: str) -> list[Message]:
    """Messages from a line such as `u:hello a:hi`, with `_` for a space inside a message."""
    roles = {"u": "user", "a": "assistant"}
    parts = [part.partition(":") for part in text.split()]
    return [Message.model_validate({"role": roles[r], "content": c.replace("_", " ")}) for r, _, c in parts]


STORED = "u:one a:1 u:two a:2 u:three a:3"
CASES = [
    ("the whole conversation and a new message", f"{STORED} u:four", STORED, CONTINUES),
    ("the top was trimmed", "a:2 u:three a:3 u:four", STORED, CONTINUES),
    ("only the last reply is left", "a:3 u:four", STORED, CONTINUES),
    ("a greeting of the client comes first", f"a:welcome {STORED} u:four", STORED, CONTINUES),
    ("a new message with the text of the last one", f"{STORED} u:three", STORED, CONTINUES),
    ("spaces, case and width do not matter", "u:THREE a:３ u:four", STORED, CONTINUES),
    ("the last reply was edited", "u:two a:2 u:three a:edited u:four", STORED, CONTINUES),
    ("every reply was trimmed", "u:one a:x u:two a:y u:three a:z u:four", STORED, CONTINUES),
    ("an earlier message was edited in place", "u:one a:1 u:x a:2 u:three a:3 u:four", STORED, CONTINUES),
    (
        "the client merged two messages",
        "u:one a:1 u:two_more a:2 u:x",
        "u:one a:1 u:two u:more a:2",
        CONTINUES,
    ),
    ("the last message again", "u:one a:1 u:two a:2 u:three", STORED, 4),
    ("the last message again, trimmed", "a:2 u:three", STORED, 4),
    ("the only message again", "u:one", "u:one a:1", 0),
    ("the only message again, after a greeting", "a:welcome u:one", "u:one a:1", 0),
    ("the last message was edited", "u:one a:1 u:two a:2 u:x", STORED, 4),
    ("an earlier message was edited and the rest deleted", "u:one a:1 u:x", STORED, 2),
    ("an earlier message again, the rest deleted", "u:one a:1 u:two", STORED, 2),
    ("several messages of a turn are replaced together", "u:a a:1 u:b", "u:a a:1 u:b u:c a:2", 2),
    ("a first message is a new conversation", "u:hello", STORED, NO_MATCH),
    ("the same first words begin a new conversation", "u:one", STORED, NO_MATCH),
    ("a trimmed message is not enough to withdraw later ones", "a:1 u:x", STORED, NO_MATCH),
    ("another conversation", "u:x a:y u:z", STORED, NO_MATCH),
    ("nothing is stored", "u:one", "", NO_MATCH),
]


@pytest.mark.req("INT-1")
@pytest.mark.parametrize(
    ("window", "stored", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_a_window_is_aligned_with_the_stored_session(
    window: str, stored: str, expected: int | str | None
) -> None:
    match = align(blocks_of(said(window)), blocks_of(said(stored)))
    assert (match.replaces if match else NO_MATCH) == expected


@pytest.mark.parametrize(
    ("window", "better", "worse"),
    [
        ("u:hi a:hello u:x", "u:hi a:hello", "u:hi a:hello u:y a:2 u:z a:3"),
        ("u:hi a:hello u:x", "u:hi a:hello", "u:hi a:hello u:x a:2 u:z a:3"),
        ("u:hi a:hello u:x", "u:hi a:hello u:x a:2", "u:hi a:hello"),
        ("u:one a:1 u:two a:2 u:x", "u:one a:1 u:two a:2", "u:other a:2"),
    ],
    ids=["continue before edit", "continue before losing turns", "repeat before continue", "longer run"],
)
def test_the_better_of_two_sessions(window: str, better: str, worse: str) -> None:
    ranks = [align(blocks_of(said(window)), blocks_of(said(each))) for each in (worse, better)]
    assert all(each is not None for each in ranks)
    for lower, higher in pairwise([each.rank for each in ranks if each]):
        assert lower < higher


TEXTS = st.lists(st.sampled_from(["hi", "ok", "네", "그래", "x", "y"]), min_size=2, max_size=24)


def _talk(texts: Sequence[str]) -> list[Message]:
    whole = texts[: len(texts) // 2 * 2]
    return [Message(role="assistant" if i % 2 else "user", content=each) for i, each in enumerate(whole)]


@given(TEXTS, st.sampled_from(["hi", "ok", "new"]))
def test_a_conversation_that_goes_on_loses_nothing(texts: Sequence[str], message: str) -> None:
    """However often it repeats itself, a whole window with one more message continues the session."""
    stored = _talk(texts)
    window = [*stored, Message(role="user", content=message)]
    match = align(blocks_of(window), blocks_of(stored))
    assert match is not None
    assert match.replaces is None


@given(TEXTS)
def test_another_reply_replaces_one_turn(texts: Sequence[str]) -> None:
    stored = _talk(texts)
    match = align(blocks_of(stored[:-1]), blocks_of(stored))
    assert match is not None
    assert match.replaces == len(stored) - 2
