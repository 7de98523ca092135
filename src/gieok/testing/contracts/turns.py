"""Contract suite for stores of turn memory. Subclass it and define the fixture `scope_of`.

class TestMyStore(MemoryStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok.engine import Data
from gieok.errors import Conflict, InputRefused
from gieok.memory.turns.records import MemoryItem, RecalledMemory
from gieok.memory.turns.rules import matches_part, matches_whole
from gieok.memory.turns.store import TurnView

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class TurnScope(Protocol):
    """One owner's turn memory, with one transaction per call."""

    async def read(self, work: Callable[[TurnView], T]) -> T: ...
    async def write(self, work: Callable[[TurnView], T]) -> T: ...


ScopeOf = Callable[[str], TurnScope]


def item(*keywords: str, session: str = "s", minute: int = 0, summary: str = "a summary") -> MemoryItem:
    """A memory item with these keywords, made this many minutes after the start."""
    return MemoryItem(
        id=uuid4(),
        session_ref=session,
        timestamp=START + timedelta(minutes=minute),
        summary=summary,
        keywords=keywords,
    )


async def save(scope: TurnScope, *items: MemoryItem) -> None:
    """Save all of them in one transaction."""

    def save_all(view: TurnView) -> None:
        for each in items:
            view.turns.save(each)

    await scope.write(save_all)


async def search(
    scope: TurnScope, query: str, *, session: str = "s", top_k: int = 10
) -> Sequence[RecalledMemory]:
    """The results of a search in the session."""
    return await scope.read(lambda view: view.turns.search(session, query, top_k))


async def found_ids(scope: TurnScope, query: str, **options: Any) -> list[UUID]:
    """The ids of the results of a search, in order."""
    return [memory.id for memory in await search(scope, query, **options)]


def reference_search(
    items: Iterable[MemoryItem], session_ref: str, query: str, top_k: int
) -> list[RecalledMemory]:
    """What `MemoryStore.search` must return when these are all the items of the owner.

    Slow and obviously right: look at every item, count the matches, sort.
    """
    ranked: list[tuple[int, int, float, bytes, MemoryItem]] = []
    for item in items:
        if item.session_ref != session_ref:
            continue
        whole = sum(matches_whole(keyword, query) for keyword in item.keywords)
        part = sum(matches_part(keyword, query) for keyword in item.keywords)
        if whole or part:
            rank, count = (1, whole) if whole else (2, part)
            ranked.append((rank, -count, -item.timestamp.timestamp(), item.id.bytes, item))
    ranked.sort(key=lambda entry: entry[:4])
    return [
        RecalledMemory(id=item.id, summary=item.summary, timestamp=item.timestamp)
        for *_, item in ranked[:top_k]
    ]


class MemoryStoreContract:
    """Run against every store of turn memory."""

    @pytest.mark.req("TURN-5", "TURN-1")
    async def test_a_search_returns_only_summary_id_and_timestamp(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = item("면접", "IT 스타트업", summary="사용자가 IT 스타트업 면접을 앞두고 있음.")
        await save(scope, kept)
        (found,) = await search(scope, "면접")
        assert found.model_dump() == {"id": kept.id, "summary": kept.summary, "timestamp": kept.timestamp}

    @pytest.mark.req("TURN-7")
    async def test_the_memories_of_a_session_can_be_deleted(self, scope_of: ScopeOf) -> None:
        """They are not found again, and those of another session and of another owner stay."""
        scope, other = scope_of("minsu"), scope_of("yuna")
        kept = item("면접", session="kept")
        await save(scope, item("면접"), item("면접", minute=1), kept)
        await save(other, item("면접"))
        assert len(await found_ids(scope, "면접")) == 2
        assert await scope.write(lambda view: view.turns.delete("s")) == 2
        assert await found_ids(scope, "면접") == []
        assert await scope.write(lambda view: view.turns.delete("s")) == 0
        assert len(await found_ids(other, "면접")) == 1
        again = item("면접", minute=2)
        await save(scope, again)
        assert await found_ids(scope, "면접") == [again.id]
        assert await found_ids(scope, "면접", session="kept") == [kept.id]

    @pytest.mark.req("MIND-12")
    async def test_the_memory_of_an_exchange_can_be_deleted(self, scope_of: ScopeOf) -> None:
        scope, first, second = scope_of("minsu"), item("면접"), item("면접", minute=1)
        await scope.write(lambda view: view.turns.save(first, message_id="m2"))
        await scope.write(lambda view: view.turns.save(second, message_id="m4"))
        assert await scope.write(lambda view: view.turns.delete("s", ["m3", "m4"])) == 1
        assert await scope.write(lambda view: view.turns.delete("s", [])) == 0
        assert await found_ids(scope, "면접") == [first.id]

    @pytest.mark.req("TURN-6")
    @pytest.mark.parametrize(
        "query", ["면접이", "면접을 봤어", "면접에서는", "그 면접 말이야", "면접관이 무서웠어", "면접까지"]
    )
    async def test_korean_particles_do_not_break_a_match(self, scope_of: ScopeOf, query: str) -> None:
        scope = scope_of("minsu")
        kept = item("면접")
        await save(scope, kept, item("영화", minute=1))
        assert await found_ids(scope, query) == [kept.id]

    @pytest.mark.req("TURN-6")
    async def test_a_keyword_with_a_particle_is_found_by_the_bare_word(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = item("면접에서는")
        await save(scope, kept)
        assert await found_ids(scope, "면접") == [kept.id]

    @pytest.mark.req("TURN-6")
    @pytest.mark.parametrize("query", ["python", "PYTHON!", "I like Python.", "Ｐｙｔｈｏｎ", "py\u200bthon"])
    async def test_case_width_and_invisible_characters_do_not_matter(
        self, scope_of: ScopeOf, query: str
    ) -> None:
        scope = scope_of("minsu")
        kept = item("Python")
        await save(scope, kept)
        assert await found_ids(scope, query) == [kept.id]

    @pytest.mark.req("TURN-6")
    async def test_whole_words_rank_before_prefixes(self, scope_of: ScopeOf) -> None:
        """`cat` finds `category`, but after every `cat`, even though it is newer and has more of them."""
        scope = scope_of("minsu")
        cat, category = item("cat"), item("category", "catalogue", "catapult", minute=9)
        await save(scope, category, cat)
        assert await found_ids(scope, "my cat") == [cat.id, category.id]
        assert await found_ids(scope, "my cat", top_k=1) == [cat.id]
        assert await found_ids(scope, "concatenate") == []

    @pytest.mark.req("TURN-6")
    @pytest.mark.parametrize(
        ("query", "exact", "compound"),
        [("면접", "면접", "면접관"), ("학교", "학교", "서울대학교"), ("대학", "대학", "서울대학교")],
    )
    async def test_a_korean_word_ranks_before_a_newer_compound_with_it(
        self, scope_of: ScopeOf, query: str, exact: str, compound: str
    ) -> None:
        scope = scope_of("minsu")
        word, newer = item(exact), item(compound, minute=9)
        await save(scope, newer, word)
        found = await found_ids(scope, query)
        assert found[0] == word.id
        assert set(found) <= {word.id, newer.id}

    @pytest.mark.req("TURN-6")
    async def test_the_beginning_of_a_part_finds_a_compound(self, scope_of: ScopeOf) -> None:
        """`대학` finds `서울대학교` as a partial match, after whole words."""
        scope = scope_of("minsu")
        compound = item("서울대학교")
        await save(scope, compound)
        assert await found_ids(scope, "대학") == [compound.id]

    @pytest.mark.req("TURN-6")
    async def test_partial_matches_rank_by_number_then_newest(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        one, newer, two = (
            item("category"),
            item("catalogue", minute=5),
            item("catapult", "caterpillar", minute=1),
        )
        await save(scope, one, newer, two, item("dog", "ca", minute=9))
        assert await found_ids(scope, "cat") == [two.id, newer.id, one.id]

    @pytest.mark.req("TURN-6")
    async def test_results_rank_by_matched_keywords_then_newest(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        old_two = item("면접", "회사")
        new_one, newest_one = item("면접", "영화", minute=5), item("회사", minute=6)
        await save(scope, newest_one, old_two, new_one)
        assert await found_ids(scope, "그 회사 면접") == [old_two.id, newest_one.id, new_one.id]

    @pytest.mark.req("TURN-6")
    async def test_several_words_of_one_keyword_count_once(self, scope_of: ScopeOf) -> None:
        """A phrase is one keyword: it does not outrank a newer item with one keyword that matches as well."""
        scope = scope_of("minsu")
        phrase, word = item("IT 스타트업"), item("스타트업", minute=1)
        await save(scope, phrase, word)
        assert await found_ids(scope, "IT 스타트업") == [word.id, phrase.id]
        assert await found_ids(scope, "스타트업에서") == [word.id, phrase.id]

    @pytest.mark.req("TURN-6")
    async def test_a_keyword_of_stop_words_is_found_by_itself(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        band = item("The Who")
        await save(scope, band)
        assert await found_ids(scope, "the who") == [band.id]

    @pytest.mark.req("TURN-7")
    async def test_only_the_same_session_is_searched(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        here, there = item("면접", session="today"), item("면접", session="yesterday", minute=5)
        await save(scope, here, there)
        assert await found_ids(scope, "면접", session="today") == [here.id]
        assert await found_ids(scope, "면접", session="tomorrow") == []

    @pytest.mark.req("TURN-7", "OPS-4")
    async def test_owners_are_isolated(self, scope_of: ScopeOf) -> None:
        """Two owners may use the same session name and the same ids, and find only their own items."""
        minsu, jiyoung = scope_of("minsu"), scope_of("지영")
        of_minsu = item("면접", summary="minsu")
        of_jiyoung = of_minsu.model_copy(update={"summary": "jiyoung"})
        await save(minsu, of_minsu)
        await save(jiyoung, of_jiyoung)
        assert [memory.summary for memory in await search(minsu, "면접")] == ["minsu"]
        assert [memory.summary for memory in await search(jiyoung, "면접")] == ["jiyoung"]

    async def test_an_owner_without_items_finds_nothing(self, scope_of: ScopeOf) -> None:
        assert await found_ids(scope_of("nobody"), "면접") == []

    @pytest.mark.req("TURN-1")
    async def test_the_store_refuses_anything_but_a_memory_item(self, scope_of: ScopeOf) -> None:
        class Larger(MemoryItem):
            raw_content: str

        scope = scope_of("minsu")
        good = item("면접")
        strange: list[Any] = [
            good.model_dump(),
            Larger(**good.model_dump(), raw_content="everything that was said"),
            None,
            "text",
        ]
        for each in strange:
            with pytest.raises(InputRefused, match="MemoryItem"):
                await save(scope, each)
        assert await found_ids(scope, "면접") == []

    async def test_an_id_cannot_be_saved_twice(self, scope_of: ScopeOf) -> None:
        scope = scope_of("minsu")
        kept = item("면접")
        await save(scope, kept)
        with pytest.raises(Conflict, match=str(kept.id)):
            await save(scope, item("회사"), kept)
        assert await found_ids(scope, "회사") == []
        assert await found_ids(scope, "면접") == [kept.id]

    @pytest.mark.parametrize("top_k", [0, -1, 1_001])
    async def test_top_k_is_checked(self, scope_of: ScopeOf, top_k: int) -> None:
        with pytest.raises(InputRefused, match="topK"):
            await search(scope_of("minsu"), "면접", top_k=top_k)

    @pytest.mark.parametrize(
        "session", ["", " ", "a b", "a\nb", "a\x00b", "'; DROP TABLE turn_memories; --", "x" * 129]
    )
    async def test_a_hostile_session_is_refused(self, scope_of: ScopeOf, session: str) -> None:
        with pytest.raises(InputRefused, match="sessionRef"):
            await search(scope_of("minsu"), "면접", session=session)

    @pytest.mark.parametrize("query", ["", "   ", "?!", "그리고 있는", "\ud800", "\x00", "%_*'\"\\"])
    async def test_a_query_without_a_word_finds_nothing(self, scope_of: ScopeOf, query: str) -> None:
        scope = scope_of("minsu")
        await save(scope, item("면접"))
        assert await found_ids(scope, query) == []

    async def test_a_query_that_is_too_long_is_refused(self, scope_of: ScopeOf) -> None:
        with pytest.raises(InputRefused, match="query"):
            await search(scope_of("minsu"), "면접 " * 10_000)

    @pytest.mark.req("TURN-6", "TURN-7")
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    async def test_search_agrees_with_a_simple_reference(
        self, scope_of: ScopeOf, data: st.DataObject
    ) -> None:
        """Random keywords and queries from overlapping words, in two sessions, against a plain loop."""
        scope = scope_of("minsu")
        run = uuid4().hex
        sessions = [f"{run}-a", f"{run}-b"]
        kept = data.draw(st.lists(_items(sessions), max_size=12))
        await save(scope, *kept)
        query = " ".join(data.draw(st.lists(st.sampled_from(_WORDS), max_size=4)))
        top_k = data.draw(st.integers(1, 8))
        expected = reference_search(kept, sessions[0], query, top_k)
        assert await search(scope, query, session=sessions[0], top_k=top_k) == expected


_WORDS = (
    "cat",
    "category",
    "Cats",
    "concatenate",
    "catalogue",
    "고양이",
    "고양이가",
    "고양이과",
    "면접",
    "면접관",
    "면접에서는",
    "IT",
    "스타트업",
    "스타트",
    "영화",
    "영화관",
    "카카오",
    "카카오뱅크",
    "the",
    "Who",
    "2025",
    "2025년",
    "😀",
    "running",
    "run",
    "runner",
    "Ｃａｔ",
    "민지",
    "민지가",
    "민지네",
)


class _Draft(Data):
    session: str
    minute: int
    keywords: tuple[str, ...]


def _items(sessions: Sequence[str]) -> st.SearchStrategy[MemoryItem]:
    phrases = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=2).map(" ".join)
    drafts = st.builds(
        _Draft,
        session=st.sampled_from(sessions),
        minute=st.integers(0, 5),
        keywords=st.lists(phrases, max_size=4).map(tuple),
    )
    return drafts.map(lambda draft: item(*draft.keywords, session=draft.session, minute=draft.minute))
