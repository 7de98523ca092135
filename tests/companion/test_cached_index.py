"""The index in memory: it says what the database says, at every moment and in every process."""

from __future__ import annotations

import asyncio
import random
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok import Gieok, Settings
from gieok.adapters.sql.cache import UNCACHED, OwnerCache
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores.companion import cached_index as cached_index_module
from gieok.adapters.sql.stores.companion.cached_index import CachedIndex, CachedMemoryIndex, cached_index
from gieok.adapters.sql.stores.companion.index import SqlMemoryIndex, read_state
from gieok.adapters.sql.stores.companion.store import SqlCompanionStore
from gieok.memory.companion.records import Memory, MemoryChanges, MemoryConfig, MemoryDraft
from gieok.memory.companion.store import MemoryIndex
from gieok.testing.contracts.companion import START, memory, save
from gieok.vault import OwnerKeys

WORDS = ("면접", "회사", "영화", "film", "river")
EVERYTHING = range(1, 13)


def scope_of(gieok: Gieok, owner: str = "minsu") -> OwnerScope:
    return gieok.scope(owner)


def told(index: MemoryIndex) -> dict[str, Any]:
    """All that an index says, in an order of our own."""
    known = [number for number in EVERYTHING if number in index.neighbours(EVERYTHING)]
    return {
        "recall": index.recall,
        "tally": index.tally(),
        "rarity": dict(index.document_frequencies((*WORDS, "없음"))),
        "with": {word: list(index.with_term(word, 3)) for word in WORDS},
        "matches": {term: sorted(found) for term, found in index.matches((*WORDS, "없음")).items()},
        "among": {term: sorted(found) for term, found in index.matches(WORDS, (1, 3, 4)).items()},
        "entries": sorted(index.entries(known)),
        "beside": {number: dict(others) for number, others in index.neighbours(EVERYTHING).items()},
        "opened": [read.memory for read in index.open(known)],
        "recent": list(index.recent(5)),
        "important": list(index.important(5)),
    }


async def agree(scope: OwnerScope) -> None:
    """What is read in memory is what a transaction that keeps nothing reads in the database."""
    for archived in (True, False):

        def look(view: SqlView, *, archived: bool = archived) -> tuple[type, dict[str, Any]]:
            index = view.companion.index("hana", include_archived=archived)
            return type(index), told(index)

        in_memory, in_database = await scope.read(look), await scope.write(look)
        assert (in_memory[0], in_database[0]) == (CachedMemoryIndex, SqlMemoryIndex)
        if archived:
            assert in_memory[1] == in_database[1]
        else:
            for kind in (
                "entries",
                "opened",
                "beside",
            ):  # the database gives archived ones too, if asked by number
                in_database[1].pop(kind)
                in_memory[1].pop(kind)
            assert in_memory[1] == in_database[1]


DEEDS = st.tuples(
    st.sampled_from(["save", "save", "save", "edit", "archive", "restore", "delete"]),
    st.integers(0, 11),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
)


def do(view: SqlView, deed: str, one: Memory, words: list[str]) -> Memory | None:
    """Change a memory; what it is afterwards."""
    store = view.companion
    if deed == "edit":
        current = cast(Memory, store.get(one.id))
        changed = current.model_copy(update={"summary": " ".join(words), "version": current.version + 1})
        store.replace(changed)
        return changed
    if deed == "delete":
        store.delete(one.id)
        return None
    if deed == "archive":
        store.archive(one.id, START)
    else:
        store.restore(one.id)
    return one


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(deeds=st.lists(DEEDS, min_size=1, max_size=12))
async def test_both_indexes_agree_after_any_order_of_changes(
    gieok: Gieok, deeds: list[tuple[str, int, list[str]]]
) -> None:
    scope = scope_of(gieok, f"owner-{abs(hash(str(deeds)))}")
    there: list[Memory] = []
    for minute, (deed, which, words) in enumerate(deeds):
        if deed == "save" or not there:
            session = ("s1", "s2", None)[which % 3]
            made = memory(
                " ".join(words), minute=minute - which, session_ref=session, importance=which % 10 + 1
            )
            await save(scope, made)
            there.append(made)
        else:
            one = there.pop(which % len(there))
            after = await scope.write(lambda view, d=deed, o=one, w=words: do(view, d, o, w))
            there += [after] if after is not None else []
        await agree(scope)


def compare(view: SqlView) -> bool:
    """Both indexes in one transaction say the same; whether one of them was in memory."""
    tx, keys, _ = inside(view)
    state = read_state(tx, "hana")
    index = view.companion.index("hana", include_archived=True)
    uncached = SqlMemoryIndex(tx, keys, UNCACHED.values, "hana", state, include_archived=True)
    assert told(index) == told(uncached)
    assert list(view.companion.load("hana", 5)) == list(SqlCompanionStore(tx, keys).load("hana", 5))
    return isinstance(index, CachedMemoryIndex)


def changed(view: SqlView, deed: str, one: Memory, *, undone: bool) -> None:
    """Do it while nobody else can, and perhaps undo it."""
    view.companion.lock("hana")
    if deed == "save":
        view.companion.save(one)
    else:
        do(view, deed, one, list(WORDS[:2]))
    if undone:
        raise _UndoneError


async def write_at_random(scope: OwnerScope, chance: random.Random) -> None:
    """Add, edit, archive and delete; every fifth time it is undone."""
    there: list[Memory] = []
    for minute in range(40):
        deed = chance.choice(("save", "save", "edit", "archive", "delete")) if there else "save"
        made = memory(" ".join(chance.choices(WORDS, k=2)), minute=minute, session_ref="s")
        one = made if deed == "save" else there.pop(chance.randrange(len(there)))
        undone = minute % 5 == 0
        try:
            await scope.write(lambda view, d=deed, o=one, u=undone: changed(view, d, o, undone=u))
        except _UndoneError:
            there += [] if deed == "save" else [one]
        else:
            there += [] if deed == "delete" else [one]


async def test_readers_agree_with_the_database_while_two_processes_write(
    gieok: Gieok, settings: Settings
) -> None:
    """On the thread that asks and on others."""
    compared: list[bool] = []
    async with await Gieok.open(settings) as other:
        scopes = [scope_of(each) for each in (gieok, other)]
        writers = [
            asyncio.create_task(write_at_random(scope, random.Random(seed)))
            for seed, scope in enumerate(scopes)
        ]
        while not all(each.done() for each in writers):
            for scope in scopes:
                looks = (
                    scope.read(compare),
                    scope.read(compare, heavy=True),
                    scope.read(compare, heavy=True),
                )
                compared += await asyncio.gather(*looks)
        await asyncio.gather(*writers)
    assert any(compared)


@pytest.mark.req("COMP-9")
async def test_changes_of_another_process_are_found_at_once(gieok: Gieok, settings: Settings) -> None:
    here = gieok.user("minsu").companion

    async def found(query: str) -> list[UUID]:
        return [hit.memory.id for hit in await here.search("hana", query)]

    async with await Gieok.open(settings) as other:
        there = other.user("minsu").companion
        first = (await there.create(draft("면접을 봄"), account_plan="premium")).memory
        assert await found("면접") == [first.id]
        second = (await there.create(draft("면접에 합격함"), account_plan="premium")).memory
        assert set(await found("면접")) == {first.id, second.id}
        assert [one.id for one in await here.load("hana")] == [second.id, first.id]
        await there.edit(first.id, MemoryChanges(summary="영화를 봄", importance=9))
        assert await found("면접") == [second.id]
        assert await found("영화") == [first.id]
        assert [one.id for one in await here.load("hana")] == [first.id, second.id]
        await there.archive(first.id)
        assert [one.id for one in await here.load("hana")] == [second.id]
        await there.delete(second.id)
        assert await found("면접") == []
        assert await here.load("hana") == ()


def draft(summary: str) -> MemoryDraft:
    return MemoryDraft(persona_id="hana", summary=summary)


async def resident(scope: OwnerScope) -> CachedIndex | None:
    """The index that lies in memory after a search."""

    def look(view: SqlView) -> CachedIndex | None:
        index = view.companion.index("hana", include_archived=True)
        return index.cached if isinstance(index, CachedMemoryIndex) else None

    return await scope.read(look)


async def test_new_memories_are_added_and_other_changes_reload_the_index(gieok: Gieok) -> None:
    scope = scope_of(gieok)
    first, second = memory("면접", minute=0), memory("회사", minute=1)
    await save(scope, first)
    one = await resident(scope)
    await save(scope, second, memory("영화", minute=2))
    two = await resident(scope)
    await scope.write(lambda view: view.companion.archive(first.id, START))
    three = await resident(scope)
    assert one
    assert two
    assert three
    assert [len(each.entries) for each in (one, two, three)] == [1, 3, 3]
    assert one.opened is two.opened
    assert two.opened is not three.opened


async def test_an_index_in_use_does_not_change(gieok: Gieok) -> None:
    """A search that began before another memory came goes on with what it saw."""
    scope = scope_of(gieok)
    await save(scope, memory("면접", session_ref="s"), memory("회사", minute=2, session_ref="s"))
    held = await resident(scope)
    assert held
    before = (dict(held.entries), {token: list(found) for token, found in held.postings.items()})
    await save(scope, memory("면접", minute=1, session_ref="s"))
    later = await resident(scope)
    assert later
    assert (held.neighbours_of(1), later.neighbours_of(1)) == ({2: 1}, {3: 1, 2: 2})
    assert (dict(held.entries), {token: list(found) for token, found in held.postings.items()}) == before


async def test_the_estimated_size_grows_with_the_words(gieok: Gieok) -> None:
    scope = scope_of(gieok)
    await save(scope, memory("면접 " * 500))
    made = await resident(scope)
    assert made
    assert made.bytes > 50_000


async def test_a_persona_without_memories_or_with_recall_disabled_is_not_cached(gieok: Gieok) -> None:
    scope = scope_of(gieok)
    await save(scope, memory())
    off = MemoryConfig(recall=False, active_limit=None)
    await scope.write(lambda view: view.companion.configure("hana", off))
    companion, cached = gieok.user("minsu").companion, gieok.caches.bytes
    for persona in ("hana", "nobody"):
        assert await companion.search(persona, "면접 회사 영화") == ()
    assert gieok.caches.bytes == cached


async def test_the_index_is_loaded_after_enough_searches(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_index_module, "WORDS_PER_SEARCH", 4)
    scope = scope_of(gieok)
    await save(scope, *(memory("면접 회사", minute=minute) for minute in range(5)))
    assert [await resident(scope) is not None for _ in range(4)] == [False, False, True, True]


async def test_a_persona_with_too_many_words_is_searched_in_the_database(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_index_module, "MAX_WORDS", 4)
    scope = scope_of(gieok)
    await save(scope, memory("면접 회사"), memory("영화 회사", minute=1))
    assert await resident(scope)
    await save(scope, memory("회사", minute=2))
    assert [await resident(scope) for _ in range(3)] == [None] * 3


async def test_a_transaction_with_an_older_snapshot_searches_the_database(gieok: Gieok) -> None:
    scope = scope_of(gieok)
    await save(scope, memory())

    def look(view: SqlView) -> CachedIndex | None:
        tx, _, cache = inside(view)
        state = read_state(tx, "hana")
        later = state._replace(revision=state.revision + 1, last_number=state.last_number + 1)
        cache.put(("memory index", "hana", True), CachedIndex(later, {}, {}, {}, {}), 100)
        return cached_index(tx, cache, "hana", state, include_archived=True)

    assert await scope.read(look) is None


def inside(view: SqlView) -> tuple[Tx, OwnerKeys, OwnerCache]:
    """The transaction, the owner's keys and the owner's cache of indexes."""
    return cast(Any, view)._tx, cast(Any, view)._keys, cast(Any, view)._caches.indexes


@pytest.mark.req("OPS-3")
async def test_erasing_an_owner_clears_the_cached_index(gieok: Gieok) -> None:
    scope = scope_of(gieok)
    await save(scope, memory(), memory(minute=1))
    assert await resident(scope)
    assert gieok.caches.bytes > 10_000
    await gieok.user("minsu").data.erase()
    assert gieok.caches.bytes == 0


async def test_a_write_transaction_caches_nothing(gieok: Gieok) -> None:
    """Its revision may be given once more, to another change."""
    scope = scope_of(gieok)
    await save(scope, memory())

    def change(view: SqlView) -> None:
        view.companion.save(memory("회사", minute=1))
        assert view.companion.index("hana", include_archived=True).document_frequencies(["회사"]) == {
            "회사": 1
        }
        assert len(view.companion.load("hana", 5)) == 2
        raise _UndoneError

    with pytest.raises(_UndoneError):
        await scope.write(change)
    await save(scope, memory("영화", minute=1))
    await agree(scope)
    assert (await gieok.user("minsu").companion.load("hana"))[0].summary == "영화"


class _UndoneError(Exception):
    """Ends a transaction."""
