"""The offline model on the table of sentences."""

from __future__ import annotations

import pytest

from gieok.adapters.models.offline import OfflineModel
from gieok.memory.observations import Conversation, Understood, VerbatimLimit
from tests.models.facts.score import BLIND, Group, Sentence, observe, score, sentences

BLIND_TABLE = sentences(*BLIND)


class Silent:
    """A model that observes nothing."""

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        return Understood(turns=(), observations=())


def test_the_blind_table_is_large_enough() -> None:
    """Both languages, and many sentences without a fact; no sentence is there twice."""
    assert len(BLIND_TABLE) >= 200
    for language in ("ko", "en"):
        rows = [sentence for sentence in BLIND_TABLE if sentence.language == language]
        assert len(rows) >= 100
        assert sum(not sentence.facts for sentence in rows) >= 30
        assert {sentence.group for sentence in rows} == set(BLIND)
    table = sentences()
    assert len({sentence.said for sentence in table}) == len(table)


@pytest.mark.req("CANON-7", "MIND-13")
@pytest.mark.parametrize(
    ("groups", "recall"),
    [(BLIND, 0.5), (("rules",), 0.6), (("unseen",), 0.3)],
    ids=["blind", "rules", "unseen"],
)
async def test_facts_are_almost_never_wrong(groups: tuple[Group, ...], recall: float) -> None:
    """At least 93 of 100 are right. A fact in an unforeseen sentence is missed rather than invented."""
    made = await score(OfflineModel(), sentences(*groups))
    assert made.precision() >= 0.93
    assert made.recall() >= recall


@pytest.mark.req("CANON-7", "MIND-13")
@pytest.mark.parametrize(("language", "recall"), [("ko", 0.35), ("en", 0.4)])
async def test_the_held_out_half_of_each_language(language: str, recall: float) -> None:
    """No rule was tuned on it, and neither language makes up for the other."""
    held_out = [each for each in sentences("held out") if each.language == language]
    made = await score(OfflineModel(), held_out)
    assert made.precision() >= 0.95
    assert made.recall() >= recall


@pytest.mark.req("CANON-7")
@pytest.mark.parametrize(
    "sentence",
    [each for each in sentences(*BLIND, "rules") if not each.facts],
    ids=lambda sentence: sentence.kind,
)
async def test_nothing_is_found_where_nothing_is_stated(sentence: Sentence) -> None:
    """Small talk, questions, hypotheticals, quotations, negations, play and other people's lives."""
    assert await observe(OfflineModel(), sentence.said) == ()


async def test_an_extractor_that_finds_nothing_has_no_recall() -> None:
    made = await score(Silent(), BLIND_TABLE)
    assert made.precision() == 1.0
    assert made.recall() == 0.0


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('my favorite book is "Emma"', True),
        ('She read it aloud: "Dear all. I quit my job. Bye."', False),
        ('편지에 "안녕. 나 회사 그만뒀어. 잘 있어."라고 적혀 있었어', False),
    ],
)
async def test_a_quoted_sentence_is_not_the_users(said: str, *, found: bool) -> None:
    """A title in quotation marks is a thing; a sentence in quotation marks is somebody else's."""
    assert bool(await observe(OfflineModel(), said)) is found
