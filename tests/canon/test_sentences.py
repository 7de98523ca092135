"""Sentences of daily chat: what a careless model would keep of them, and what it rightly keeps.

Some cannot be told from the words alone, so shares are tested, and each sentence that fails is shown.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gieok.memory.canon.grounding import ground
from gieok.memory.observations import Category, Observation, SpokenMessage
from tests.canon.test_quotes import AT

# In sentences.json: the message, the quote, the subject, the category and the value; of a trap also why it
# must not be kept.
SENTENCES = json.loads(Path(__file__).with_name("sentences.json").read_text("utf-8"))
TRAPS: list[list[str]] = SENTENCES["traps"]
FACTS: list[list[str]] = SENTENCES["facts"]


def is_kept(text: str, quote: str, subject: str, category: str, value: str) -> bool:
    observation = Observation(
        turn=1,
        op="add",
        subject=subject,
        category=Category(category),
        key="note",
        value=value,
        quote=quote,
        importance=5,
    )
    messages = [
        SpokenMessage(role="user", text=text, at=AT),
        SpokenMessage(role="assistant", text="음", at=AT),
    ]
    kept, _ = ground([observation], messages, known={})
    return bool(kept)


@pytest.mark.req("MIND-5")
def test_six_of_seven_traps_are_refused() -> None:
    kept = [trap for trap in TRAPS if is_kept(*trap[:5])]
    assert len(kept) <= len(TRAPS) / 7, kept


@pytest.mark.req("MIND-4")
def test_facts_are_kept() -> None:
    refused = [fact for fact in FACTS if not is_kept(*fact)]
    assert len(refused) <= len(FACTS) / 40, refused
