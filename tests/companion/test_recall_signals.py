"""What each signal of recall is for, shown on two friendships in two languages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from gieok import Gieok, Settings
from gieok.memory.companion.hits import MemoryHit
from gieok.memory.companion.records import Memory
from gieok.testing.clock import Clock
from gieok.testing.contracts.companion import memory, save
from gieok.testing.embedders import LetterEmbedder
from tests.companion.story import NOW, QUESTIONS, memories
from tests.companion.test_recall import recalling


@pytest.fixture
async def told(settings: Settings) -> AsyncIterator[Gieok]:
    """Gieok on the day after the last session of the story, which it remembers."""
    async with await Gieok.open(settings, clock=Clock(NOW)) as gieok:
        await remember(gieok, *memories().values())
        yield gieok


async def remember(gieok: Gieok, *kept: Memory) -> None:
    await save(gieok.scope("minsu"), *kept)


async def hits(gieok: Gieok, question: str, **weights: float) -> tuple[MemoryHit, ...]:
    return await gieok.user("minsu").companion.search("hana", question, plan=recalling(weights))


async def answers(gieok: Gieok, question: str, **weights: float) -> list[str]:
    """The names of the turns that are found, best first."""
    name_of = {turn.summary: name for name, turn in memories().items()}
    return [name_of[hit.memory.summary] for hit in await hits(gieok, question, **weights)]


@pytest.mark.req("COMP-9")
async def test_questions_about_the_story_are_answered(told: Gieok) -> None:
    """In both languages, by the first or the second of what is found."""
    missed = {
        question: found[:2]
        for question, wanted in QUESTIONS.items()
        if wanted not in (found := await answers(told, question))[:2]
    }
    assert missed == {}


@pytest.mark.req("COMP-9")
async def test_each_signal_alone_ranks_its_memory_first(told: Gieok) -> None:
    """And without it another memory is first, so that it is this signal that does it. `latest` has its own
    tests and is switched off."""
    expected = {
        "speaker": ("지영이는 면접 결과를 알아?", "면접", "결과_물음"),
        "statement": ("bowl colour", "glaze", "bowl_asks"),
        "answer": ("What colour is the bowl?", "glaze", "bowl_asks"),
        "time": ("Who went to the park or the harbour in July 2024?", "harbour", "park"),
    }
    for signal, (question, wanted, otherwise) in expected.items():
        first, *_ = found = await hits(told, question, latest=0.0)
        assert first.memory.summary == memories()[wanted].summary, signal
        second = found[1].why.signals.get(signal)
        assert first.why.signals[signal].value > (second.value if second else 0.0), signal
        assert (await answers(told, question, **{"latest": 0.0, signal: 0.0}))[0] == otherwise, signal


@pytest.mark.req("COMP-9")
async def test_neighbours_up_to_two_turns_from_a_match_are_found(told: Gieok) -> None:
    assert {"이사", "집주인", "고양이_물음", "두부"} == set(await answers(told, "고양이 이름"))
    assert {"집주인", "고양이_물음"} == set(await answers(told, "고양이 이름", neighbours=0.0))
    (two_away,) = [
        hit for hit in await hits(told, "piano") if hit.memory.summary == memories()["guitar"].summary
    ]
    assert two_away.why.signals["neighbours"].value == 0.5


@pytest.mark.req("COMP-9")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("지난주에 무슨 일이 있었지?", {"감기", "죽", "guitar", "piano", "neighbours_complain"}),
        ("What happened yesterday?", {"cake", "bakery", "시계", "분실물", "승진"}),
        ("2024년 8월에 뭐 했지?", {"제주", "한라산", "귤"}),
    ],
)
async def test_a_query_with_only_a_time_finds_memories_of_that_time(
    told: Gieok, question: str, wanted: set[str]
) -> None:
    """Seen from the moment of asking, and nothing else is found for it."""
    found = await hits(told, question)
    assert {hit.memory.summary for hit in found} == {memories()[name].summary for name in wanted}
    assert all(hit.why.signals["time"].value == 1 and not hit.why.filled for hit in found)


@pytest.mark.req("COMP-9")
@pytest.mark.parametrize(
    ("written", "wanted", "shown"),
    [
        ("김치찌게", "찌개", ("김치찌게", "김치")),
        ("guitarr", "guitar", ("guitarr",)),
        ("영화관", "영화", ("영화관",)),
        ("book store", "job", ("book store",)),
        ("손목 시계", "시계", ("손목", "시계")),
        ("selling", "guitar", ("selling",)),
    ],
)
async def test_misspelled_and_joined_words_are_found(
    told: Gieok, written: str, wanted: str, shown: tuple[str, ...]
) -> None:
    """One slip, one space, a part of a compound, another form; the reasons name the word that was asked."""
    first, *_ = await hits(told, written)
    assert first.memory.summary == memories()[wanted].summary
    assert set(first.why.matched_words) <= {*shown, written}
    assert first.why.matched_words


@pytest.mark.req("COMP-9")
async def test_a_word_is_found_in_the_other_script(gieok: Gieok) -> None:
    """And in a text that mixes both. The reasons name the word as it was asked."""
    await remember(gieok, *(memory(text, minute=n) for n, text in enumerate(_TWO_SCRIPTS)))
    for question, shown, wanted in _ASKED_IN_ANOTHER:
        found = await hits(gieok, question, neighbours=0.0)
        assert [(hit.memory.summary, hit.why.matched_words) for hit in found] == [(wanted, (shown,))]


_TWO_SCRIPTS = (
    KIMCHI := "김치를 담갔다.",
    TRIP := "지훈이는 여행을 간대.",
    HOUSE := "김민수네 집은 멀다.",
    DOG := "Jiyoung got a dog.",
    OFFICE := "The Seoul office moved.",
    GPT := "GPT를 써 봤다.",
    FRIEND := "LA에서 친구가 왔다.",
    PHONE := "아이폰15를 샀다.",
)
_ASKED_IN_ANOTHER = (
    ("When did I eat gimchi?", "gimchi", KIMCHI),
    ("kimchi", "kimchi", KIMCHI),
    ("What is Jihoon's plan?", "jihoon's", TRIP),
    ("Where does Kim Minsu live?", "kim minsu", HOUSE),
    ("지영이 얘기 기억나?", "지영", DOG),
    ("박지영은 뭐 키워?", "박지영", DOG),
    ("서울에 뭐 있지?", "서울", OFFICE),
    ("gpt", "gpt", GPT),
    ("LA", "la", FRIEND),
    ("아이폰", "아이폰", PHONE),
)


async def test_a_speaker_is_found_in_the_other_script(gieok: Gieok) -> None:
    """Who is asked about is who spoke, whichever letters the name has."""
    told = [memory("It rained.", speaker=who, minute=n) for n, who in enumerate(("Jihoon", "Mina"))]
    await remember(gieok, *told)
    first, *_ = await hits(gieok, "지훈 rained", neighbours=0.0, recency=0.0)
    assert first.memory == told[0]
    assert first.why.signals["speaker"].value == 1.0


async def test_an_indexed_word_gets_no_alternatives(told: Gieok) -> None:
    """Only what nobody ever said is read as something near it: a curtain is not a curtail."""
    await remember(told, memory("Mina bought curtains."), memory("The curtain fell.", minute=1))
    await remember(told, memory("They curtail the trip.", minute=2))
    found = [hit.memory.summary for hit in await hits(told, "curtains", neighbours=0.0)]
    assert set(found) == {"Mina bought curtains.", "The curtain fell."}


async def test_a_match_raises_other_memories_of_its_session(gieok: Gieok) -> None:
    """Of two memories that match alike, the one of the day on which more was said about it."""
    on_topic = [memory(text, session_ref="a", minute=n) for n, text in enumerate(_A_TRIP)]
    apart = memory("비가 왔다.", session_ref="b", minute=30)
    await remember(gieok, *on_topic, apart)
    rain = on_topic[-1]
    off = {"neighbours": 0.0, "recency": 0.0}
    with_session = [hit.memory.id for hit in await hits(gieok, "부산 여행 비", **off)]
    without = [hit.memory.id for hit in await hits(gieok, "부산 여행 비", session=0.0, **off)]
    assert with_session.index(rain.id) < with_session.index(apart.id)
    assert without.index(rain.id) > without.index(apart.id)


_A_TRIP = ("부산 여행을 갔다.", "기차가 늦었다.", "숙소가 좁았다.", "길을 잃었다.", "비가 왔다.")


async def test_pairs_of_syllables_distinguish_forms_of_one_word(gieok: Gieok) -> None:
    """The same stem in both, and the older one is as it was asked."""
    wanted = memory("그날 손이 떨렸던 기억.", session_ref="a")
    other = memory("그때 손이 떨린다는 얘기.", session_ref="b", minute=9)
    await remember(gieok, wanted, other)
    assert (await hits(gieok, "떨렸던", recency=0.0, latest=0.0))[0].memory == wanted
    assert (await hits(gieok, "떨렸던", recency=0.0, pairs=0.0))[0].memory == other


async def test_a_long_message_that_ends_with_a_question_still_tells(gieok: Gieok) -> None:
    """Only a short question counts less than a statement: people explain first, and ask at the end."""
    short = memory("Did the interview go well?", minute=1)
    long = memory(
        "The interview " + "was about compilers, parsers and types. " * 6 + "Is that usual?", minute=2
    )
    await remember(gieok, short, long)
    signals = {hit.memory.id: hit.why.signals for hit in await hits(gieok, "interview")}
    assert "statement" in signals[long.id]
    assert "statement" not in signals[short.id]


async def test_names_of_speakers_are_not_embedded(settings: Settings) -> None:
    """A memory's text seldom names its own speaker. Other names stay in the question."""
    embedder = LetterEmbedder()
    async with await Gieok.open(settings, embedder=embedder) as gieok:
        await remember(gieok, memory("I burnt the cake.", speaker="Mina"))
        await hits(gieok, "What did Mina's sister Jane burn?")
    assert embedder.embedded[-1] == "What did sister Jane burn?"


async def test_vectors_find_memories_without_a_common_word(settings: Settings) -> None:
    async with await Gieok.open(settings, embedder=LetterEmbedder(), clock=Clock(NOW)) as gieok:
        near = memory("abcabc", occurred_at=NOW - timedelta(days=400))
        await remember(gieok, near, *(memory(f"xyzxyz{n}", minute=n) for n in range(9)))
        await gieok.user("minsu").companion.embed()
        first, *_ = await hits(gieok, "aabbcc")
        assert first.memory == near
        assert first.why.matched_words == ()
        assert await hits(gieok, "aabbcc", vectors=0.0) == ()
