"""The offline model on the table of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from gieok.adapters.models.offline.facts import facts_in
from gieok.adapters.models.offline.observing import observe
from gieok.memory.canon.quotes import ground
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.memory.observations import SpokenMessage
from tests.models.facts.score import BLIND, Group, OfflineRules, Sentence, score, sentences

BLIND_TABLE = sentences(*BLIND)


class Silent:
    """An extractor that finds nothing."""

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        return ()


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


@pytest.mark.req("CANON-7")
@pytest.mark.parametrize(
    ("groups", "recall"),
    [(BLIND, 0.6), (("rules",), 0.6), (("unseen",), 0.5)],
    ids=["blind", "rules", "unseen"],
)
async def test_nine_of_ten_facts_are_right_and_most_are_found(
    groups: tuple[Group, ...], recall: float
) -> None:
    """A fact in an unforeseen sentence is missed rather than invented."""
    made = await score(OfflineRules(), sentences(*groups))
    assert made.precision() >= 0.9
    assert made.recall() >= recall


@pytest.mark.req("CANON-7", "MIND-5")
async def test_found_facts_are_grounded_in_their_turn() -> None:
    """Grounding refuses few of the facts that the rules find in what was said."""
    found = kept = 0
    for sentence in BLIND_TABLE:
        observations = list(observe(1, sentence.said, "", (), ""))
        message = SpokenMessage(role="user", text=sentence.said, at=datetime(2026, 1, 5, tzinfo=UTC))
        grounded, _ = ground(observations, [message], known={})
        found += len(observations)
        kept += len(grounded)
    assert kept >= 0.9 * found > 0


@pytest.mark.req("CANON-7")
@pytest.mark.parametrize("language", ["ko", "en"])
async def test_the_held_out_half_of_each_language(language: str) -> None:
    """No rule was tuned on it, and neither language makes up for the other."""
    held_out = [each for each in sentences("held out") if each.language == language]
    made = await score(OfflineRules(), held_out)
    assert made.precision() >= 0.85
    assert made.recall() >= 0.55


@pytest.mark.req("CANON-7")
@pytest.mark.parametrize(
    "sentence",
    [each for each in sentences(*BLIND, "rules") if not each.facts],
    ids=lambda sentence: sentence.kind,
)
async def test_nothing_is_found_where_nothing_is_stated(sentence: Sentence) -> None:
    """Small talk, questions, hypotheticals, quotations, negations, play and other people's lives."""
    assert facts_in(sentence.said, "", (), "") == ()


async def test_an_extractor_that_finds_nothing_has_no_recall() -> None:
    made = await score(Silent(), BLIND_TABLE)
    assert made.precision() == 1.0
    assert made.recall() == 0.0


@pytest.mark.parametrize(
    ("said", "key", "value"),
    [
        ("담배 다시 피워", "담배", "담배 다시 피움"),
        ("우리 부모님 이혼했어", "person:부모님", "부모님 이혼함"),
        ("my parents got divorced", "person:parents", "their parents got divorced"),
        ("im back to smoking", "smoking", "back to smoking"),
    ],
)
async def test_a_relapse_and_the_news_of_parents(said: str, key: str, value: str) -> None:
    """A habit that was begun again is a habit; the parents are recognised even without a particle."""
    (fact,) = facts_in(said, "", (), "")
    assert (fact.key, fact.value) == (key, value)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ('my favorite book is "The Sea, the Sea"', True),
        ('She read it aloud: "Dear all. I quit my job. Bye."', False),
        ('편지에 "안녕. 나 회사 그만뒀어. 잘 있어."라고 적혀 있었어', False),
    ],
)
async def test_a_quoted_sentence_is_not_the_users(said: str, *, found: bool) -> None:
    """A title in quotation marks is a thing; a sentence in quotation marks is somebody else's."""
    assert bool(facts_in(said, "", (), "")) is found
