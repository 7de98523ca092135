"""Recall across sessions: what is found, in which order, and the reasons that come with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from gieok import Gieok, Settings
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import InputRefused, PlanInvalid
from gieok.memory.companion.hits import MemoryHit
from gieok.memory.companion.records import Memory, MemoryConfig
from gieok.plans import read_plan
from gieok.testing.contracts.companion import START, ids, memory, save
from gieok.testing.embedders import LetterEmbedder

EQUAL = {"bm25": 1.0, "neighbours": 0.0, "recency": 0.0, "importance": 0.0, "vectors": 0.0}


def recalling(weights: dict[str, float] | None = None, **metadata: Any) -> ExecutionPlan:
    """The plan of a search with other metadata."""
    document = json.loads(read_plan("search_memories"))
    policy = document["steps"][0]["metadata"]
    policy |= metadata
    policy["weights"] |= weights or {}
    return make_plan(document)


async def recalled(
    gieok: Gieok, query: str, plan: ExecutionPlan | None = None, persona: str = "hana", owner: str = "minsu"
) -> Sequence[MemoryHit]:
    companion = gieok.user(owner).companion
    return await companion.search(persona, query, plan=plan or recalling())


async def keep(gieok: Gieok, *memories: Memory, owner: str = "minsu") -> None:
    await save(gieok.scope(owner), *memories)


def found(hits: Sequence[MemoryHit]) -> list[Any]:
    return ids([hit.memory for hit in hits])


@pytest.mark.req("COMP-9", "CANON-8")
@pytest.mark.parametrize("query", ["면접에서 떨렸어?", "그 면접 말이야", "면접관이 무서웠어"])
async def test_a_memory_of_another_session_is_found_by_its_words(gieok: Gieok, query: str) -> None:
    wanted = memory("IT 스타트업 면접을 앞두고 긴장함.", session_ref="old")
    await keep(gieok, wanted, memory("새 영화를 재미있게 봄.", session_ref="other", minute=9))
    (hit,) = await recalled(gieok, query, recalling({"neighbours": 0.0}))
    assert hit.memory == wanted


@pytest.mark.req("COMP-9")
async def test_a_hit_says_why(gieok: Gieok) -> None:
    """The words as they were asked, each signal with value, weight and rank, and the age in days."""
    both = memory("판교에서 면접을 봄.", importance=8, occurred_at=START - timedelta(days=30))
    one = memory("면접 준비를 함.", importance=2)
    await keep(gieok, both, one)
    plan = recalling({"bm25": 1.0, "neighbours": 0.0, "recency": 0.1, "importance": 0.2}, halfLifeDays=10)
    first, second = await recalled(gieok, "판교 면접은 어땠어?", plan)
    assert found([first, second]) == ids([both, one])
    assert first.why.matched_words == ("판교", "면접")
    assert second.why.matched_words == ("면접",)
    assert (first.why.filled, second.why.filled) == (False, False)
    assert first.why.age_days > second.why.age_days + 29
    words, age = first.why.signals["bm25"], first.why.signals["recency"]
    assert (words.value, words.weight, words.rank) == (1.0, 1.0, 1)
    assert (age.weight, age.rank) == (0.1, 2)
    assert first.why.signals["importance"].value == 0.8
    for hit in (first, second):
        total = sum(signal.value * signal.weight for signal in hit.why.signals.values())
        assert hit.score == pytest.approx(total)


@pytest.mark.req("COMP-9")
async def test_a_rare_word_counts_more_than_a_common_one(gieok: Gieok) -> None:
    common = [memory("회사에서 회의를 함.", minute=n) for n in range(10)]
    rare = memory("회사에서 승진함.")
    await keep(gieok, rare, *common)
    assert (await recalled(gieok, "회사 승진", recalling(EQUAL)))[0].memory == rare


@pytest.mark.req("COMP-9")
@pytest.mark.parametrize("query", ["여행", "주말에 뭐 했지", "지영이가 뭐라고 했지"])
async def test_memories_are_found_by_topics_tags_and_speaker(gieok: Gieok, query: str) -> None:
    wanted = memory("바다를 보고 옴.", topics=("여행",), tags=("주말",), speaker="지영")
    await keep(gieok, wanted, memory("산책을 함."))
    assert found(await recalled(gieok, query, recalling({"neighbours": 0.0})))[:1] == [wanted.id]


@pytest.mark.req("CANON-8")
async def test_too_few_matches_are_filled_up_with_recent_and_important_memories(gieok: Gieok) -> None:
    """Matches come first, however old; what fills up is marked as such and matched no word."""
    match = memory("면접을 봄.", importance=1, occurred_at=START - timedelta(days=900))
    important = memory("할머니가 돌아가심.", importance=10)
    dull = [memory("산책을 함.", importance=1, minute=n + 1) for n in range(4)]
    recent = memory("라면을 끓임.", importance=1, minute=60)
    await keep(gieok, match, important, *dull, recent)
    plan = recalling({"recency": 0.1, "importance": 0.1, "neighbours": 0.0}, fill=True, topK=3)
    hits = await recalled(gieok, "면접", plan)
    assert found(hits) == ids([match, important, recent])
    assert [hit.why.filled for hit in hits] == [False, True, True]
    assert [hit.why.matched_words for hit in hits] == [("면접",), (), ()]
    assert hits[1].why.signals["importance"].rank == 1
    nothing_said = await recalled(gieok, "ㅋㅋㅋ", plan)
    assert len(nothing_said) == 3
    assert all(hit.why.filled for hit in nothing_said)
    assert await recalled(gieok, "ㅋㅋㅋ", recalling(fill=False)) == ()


@pytest.mark.req("CANON-8")
async def test_a_match_lends_its_score_to_its_neighbours(gieok: Gieok) -> None:
    """Of two memories without a word of the query, the one told right after a match is recalled."""
    match = memory("면접을 봄.", session_ref="s1")
    beside = memory("떡볶이를 먹음.", session_ref="s1", minute=1)
    apart = memory("떡볶이를 먹음.", session_ref="s2", minute=2)
    await keep(gieok, match, beside, apart)
    hits = await recalled(gieok, "면접", recalling({"neighbours": 0.8, "recency": 0.0}))
    assert found(hits) == ids([match, beside])
    assert hits[1].why.signals["neighbours"].value == 0.5
    assert found(await recalled(gieok, "면접", recalling({"neighbours": 0.0}))) == [match.id]


@pytest.mark.req("COMP-9")
async def test_archived_memories_are_searched_only_if_the_plan_says_so(gieok: Gieok) -> None:
    active, archived = memory("면접을 봄."), memory("면접에 떨어짐.", minute=1, archived_at=START)
    await keep(gieok, active, archived)
    assert found(await recalled(gieok, "면접", recalling(includeArchived=False))) == [active.id]
    both = await recalled(gieok, "면접", recalling(includeArchived=True))
    assert set(found(both)) == {active.id, archived.id}


@pytest.mark.req("COMP-7")
async def test_recall_is_separate_by_user_and_persona(gieok: Gieok) -> None:
    mine, of_duri = memory("면접을 봄."), memory("면접을 봄.", persona_id="duri")
    await keep(gieok, mine, of_duri)
    await keep(gieok, memory("면접을 봄."), owner="jiyoung")
    plan = recalling(fill=True, includeArchived=True)
    assert found(await recalled(gieok, "면접", plan)) == [mine.id]
    assert found(await recalled(gieok, "면접", plan, persona="duri")) == [of_duri.id]
    assert await recalled(gieok, "면접", plan, persona="nobody") == ()
    assert await recalled(gieok, "면접", plan, owner="nobody") == ()


@pytest.mark.req("COMP-8")
async def test_a_persona_with_recall_disabled_has_no_memories_in_prompts(gieok: Gieok) -> None:
    companion = gieok.user("minsu").companion
    await keep(gieok, memory("면접을 봄."))
    await companion.configure("hana", MemoryConfig(recall=False, active_limit=None))
    assert (await recalled(gieok, "면접", recalling(fill=True)), await companion.load("hana")) == ((), ())
    assert (await companion.list("hana")).total == 1


@pytest.mark.req("CANON-8")
async def test_every_memory_is_scored(gieok: Gieok) -> None:
    """There is no limit of candidates: an old memory that matches best is found among many that match."""
    rare = memory("회사에서 승진함.")
    await keep(gieok, rare, *(memory("회사에 감.", minute=n + 1) for n in range(700)))
    hits = await recalled(gieok, "회사 승진", recalling(EQUAL))
    assert found(hits)[0] == rare.id
    assert hits[1].why.signals["bm25"].rank == 2


@pytest.mark.req("ENG-5")
@pytest.mark.parametrize(
    "wrong", [{"topK": 0}, {"k1": 0}, {"b": 1.5}, {"halfLifeDays": 0}, {"addedWeight": -1}, {"fill": "yes"}]
)
async def test_an_invalid_policy_is_refused_with_the_field(gieok: Gieok, wrong: dict[str, Any]) -> None:
    with pytest.raises(PlanInvalid, match=rf"steps\[0\]\.metadata\.{next(iter(wrong))}"):
        await recalled(gieok, "면접", recalling(**wrong))


async def test_a_query_that_is_too_long_is_refused(gieok: Gieok) -> None:
    with pytest.raises(InputRefused, match="query"):
        await recalled(gieok, "면접 " * 10_000)


async def test_an_embedder_is_given_when_gieok_is_opened(settings: Settings) -> None:
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        await keep(gieok, memory("a zebra"))
        await gieok.user("minsu").companion.embed()
        (hit,) = await gieok.user("minsu").companion.search("hana", "zebra")
        assert hit.why.signals["vectors"].value > 0


@pytest.mark.req("COMP-9")
async def test_vectors_count_with_an_embedder(settings: Settings) -> None:
    """A memory that shares no word but lies close in meaning becomes a match; one that does not stays out."""
    close, far = memory("a zebra"), memory("못 봄", minute=1)
    weights = {"bm25": 1.0, "neighbours": 0.0, "recency": 0.1, "importance": 0.0, "vectors": 0.5}
    async with await Gieok.open(settings, embedder=LetterEmbedder(languages={"en"})) as gieok:
        await keep(gieok, close, far)
        await gieok.user("minsu").companion.embed()
        hits = await recalled(gieok, "zebraic", recalling(weights, fill=True, topK=2))
    assert found(hits) == ids([close, far])
    assert [hit.why.filled for hit in hits] == [False, True]
    assert hits[0].why.signals["vectors"].rank == 1
