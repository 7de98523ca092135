"""The offline model on a table of three hundred sentences that were written before its rules."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gieok.adapters.models.offline import OfflineModel
from gieok.memory.canon.grounding import grounded, said_in
from gieok.memory.canon.records import ExtractedFact, Fact
from gieok.plans import load_plan
from tests.models.facts.score import Sentence, score, sentences

TABLE = sentences()


class Silent:
    """An extractor that never finds anything."""

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        return ()


def test_the_table_asks_enough() -> None:
    """Both languages, many kinds, and many sentences that state nothing; its halves do not overlap."""
    assert len(TABLE) >= 200
    for language in ("ko", "en"):
        of_it = [sentence for sentence in TABLE if sentence.language == language]
        assert len(of_it) >= 100
        assert sum(not sentence.facts for sentence in of_it) >= 30
        assert {sentence.half for sentence in of_it} == {"tuning", "held out"}
    assert len({sentence.said for sentence in TABLE}) == len(TABLE)


@pytest.mark.req("CANON-7")
async def test_nine_of_ten_facts_are_right_and_most_are_found() -> None:
    """Over the whole table, as anyone may hold against us."""
    made = await score(OfflineModel(), TABLE)
    assert made.precision() >= 0.9
    assert made.recall() >= 0.6


@pytest.mark.req("CANON-7")
async def test_what_is_found_stands_on_the_words_of_its_turn() -> None:
    """A turn drops a fact in words that nobody said: at most one in fifty, by the shipped plan's measure."""
    (step,) = (each for each in load_plan("chat_turn").document["steps"] if each["type"] == "ExtractFacts")
    found = stands = 0
    for sentence in TABLE:
        facts = [
            fact for fact in await OfflineModel().extract_facts(sentence.said, "", ()) if not fact.retracts
        ]
        said = said_in(sentence.said, "", ())
        found += len(facts)
        stands += len(
            grounded(facts, said, (), from_reply=(), min_grounding=step["metadata"]["minGrounding"])
        )
    assert stands >= 0.98 * found > 0


@pytest.mark.req("CANON-7")
@pytest.mark.parametrize("language", ["ko", "en"])
async def test_the_half_that_no_rule_was_tuned_on(language: str) -> None:
    """Each language by itself stays near the whole, so that one does not carry the other."""
    half = [each for each in TABLE if each.half == "held out" and each.language == language]
    made = await score(OfflineModel(), half)
    assert made.precision() >= 0.85
    assert made.recall() >= 0.55


@pytest.mark.req("CANON-7")
@pytest.mark.parametrize(
    "sentence", [each for each in TABLE if not each.facts], ids=lambda sentence: sentence.kind
)
async def test_nothing_is_found_where_nothing_is_stated(sentence: Sentence) -> None:
    """Small talk, questions, hypotheticals, quotations, negations, play and other people's lives."""
    assert await OfflineModel().extract_facts(sentence.said, "", ()) == ()


async def test_silence_does_not_pass() -> None:
    """Who finds nothing is never wrong, and has a recall of nothing."""
    made = await score(Silent(), TABLE)
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
    """What was begun again is a habit, and whose life it is shows even without a particle."""
    (fact,) = await OfflineModel().extract_facts(said, "", ())
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
    """A title in quotation marks is a thing; a sentence in them is somebody's words."""
    assert bool(await OfflineModel().extract_facts(said, "", ())) is found
