"""The cached search index: it is what the database says, at every moment and in every process."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok import Gieok, Settings
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.adapters.sql.stores import search
from gieok.adapters.sql.stores.companion.store import SqlCompanionStore
from gieok.errors import GieokError, StoreDamaged
from gieok.memory.companion.records import Memory, MemoryChanges, MemoryConfig, MemoryDraft
from gieok.memory.companion.store import PersonaIndex
from gieok.ranking import IndexRow, SearchIndex
from gieok.testing.contracts.companion import START, memory, save
from tests.behind import Behind

WORDS = ("면접", "회사", "영화", "film", "river")


def scope_of(gieok: Gieok, owner: str = "minsu") -> OwnerScope:
    return gieok.scope(owner)


def content(index: PersonaIndex) -> dict[str, Any]:
    """Everything in an index, ordered by the numbers of the memories."""
    columns = index.rows.columns
    numbers = columns.numbers.tolist()
    rows = sorted(range(len(index.rows)), key=numbers.__getitem__)
    order, next_is_near, _ = index.neighbours
    pairs = zip(order[:-1][next_is_near].tolist(), order[1:][next_is_near].tolist(), strict=True)
    return {
        "recall": index.recall,
        "count": index.count,
        "memories": [row.record for row in index.open(rows)],
        "columns": [
            [column[row].tobytes() for column in (columns.at, columns.importance, columns.own_words)]
            for row in rows
        ],
        "matches": {
            term: sorted(zip([numbers[row] for row in match.rows], match.own.tolist(), strict=True))
            for term, match in index.find([*WORDS, "없음"]).items()
        },
        "neighbours": {(numbers[one], numbers[other]) for one, other in pairs},
    }


def compare(view: SqlView) -> SearchIndex:
    """Check that the cached index and a new one in the same transaction are equal."""
    tx, keys = cast(Any, view)._tx, cast(Any, view)._keys
    uncached = SqlCompanionStore(tx, keys)
    for include_archived in (True, False):
        index = view.companion.index("hana", include_archived=include_archived)
        other = uncached.index("hana", include_archived=include_archived)
        assert content(index) == content(other)
    assert list(view.companion.load("hana", 5)) == list(uncached.load("hana", 5))
    return view.companion.index("hana", include_archived=True).rows


CHANGES = st.tuples(
    st.sampled_from(["save", "save", "save", "edit", "archive", "restore", "delete"]),
    st.integers(0, 11),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
)


def change(view: SqlView, kind: str, one: Memory, words: list[str]) -> Memory | None:
    """Change a memory. Returns its new state."""
    store = view.companion
    if kind == "edit":
        current = cast(Memory, store.get(one.id))
        edited = current.model_copy(update={"summary": " ".join(words), "version": current.version + 1})
        store.replace(edited)
        return edited
    if kind == "delete":
        store.delete(one.id)
        return None
    if kind == "archive":
        store.archive(one.id, START)
    else:
        store.restore(one.id)
    return one


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=1, max_size=12))
async def test_the_cached_index_is_right_after_any_order_of_changes(
    gieok: Gieok, changes: list[tuple[str, int, list[str]]]
) -> None:
    scope = scope_of(gieok, f"owner-{abs(hash(str(changes)))}")
    stored: list[Memory] = []
    for minute, (kind, which, words) in enumerate(changes):
        if kind == "save" or not stored:
            session = ("s1", "s2", None)[which % 3]
            made = memory(
                " ".join(words), minute=minute - which, session_ref=session, importance=which % 10 + 1
            )
            await save(scope, made)
            stored.append(made)
        else:
            one = stored.pop(which % len(stored))
            after = await scope.write(lambda view, k=kind, o=one, w=words: change(view, k, o, w))
            stored += [after] if after is not None else []
        await scope.read(compare)


class _UndoneError(Exception):
    """Rolls a transaction back."""


def change_or_undo(view: SqlView, kind: str, one: Memory, *, undo: bool) -> None:
    view.companion.lock("hana")
    if kind == "save":
        view.companion.save([one])
    else:
        change(view, kind, one, list(WORDS[:2]))
    if undo:
        raise _UndoneError


async def write_at_random(scope: OwnerScope, chance: random.Random) -> None:
    """Add, edit, archive and delete; every fifth change is rolled back."""
    stored: list[Memory] = []
    for minute in range(40):
        kind = chance.choice(("save", "save", "edit", "archive", "delete")) if stored else "save"
        made = memory(" ".join(chance.choices(WORDS, k=2)), minute=minute, session_ref="s")
        one = made if kind == "save" else stored.pop(chance.randrange(len(stored)))
        undo = minute % 5 == 0
        try:
            await scope.write(lambda view, k=kind, o=one, u=undo: change_or_undo(view, k, o, undo=u))
        except _UndoneError:
            stored += [] if kind == "save" else [one]
        else:
            stored += [] if kind == "delete" else [one]


async def test_readers_agree_with_the_database_while_two_processes_write(
    gieok: Gieok, settings: Settings
) -> None:
    """On the thread that asks and on others."""
    async with await Gieok.open(settings) as other:
        scopes = [scope_of(each) for each in (gieok, other)]
        writers = [
            asyncio.create_task(write_at_random(scope, random.Random(seed)))
            for seed, scope in enumerate(scopes)
        ]
        while not all(each.done() for each in writers):
            for scope in scopes:
                await asyncio.gather(
                    scope.read(compare), scope.read(compare, heavy=True), scope.read(compare, heavy=True)
                )
        await asyncio.gather(*writers)


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


def index_of(view: SqlView) -> SearchIndex:
    return view.companion.index("hana", include_archived=True).rows


async def test_an_index_is_read_once_and_then_only_what_changed(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    with_changes = SearchIndex.with_changes

    def count(index: SearchIndex, rows: Sequence[IndexRow]) -> SearchIndex:
        read.append(len(rows))
        return with_changes(index, rows)

    monkeypatch.setattr(SearchIndex, "with_changes", count)
    scope = scope_of(gieok)
    first = memory("면접", minute=0)
    await save(scope, first, memory("회사", minute=1), memory("영화", minute=2))
    one = await scope.read(index_of)
    assert await scope.read(index_of) is one
    await save(scope, memory("강", minute=3))
    await scope.read(index_of)
    await scope.write(lambda view: view.companion.archive(first.id, START))
    await scope.read(index_of)
    await scope.write(lambda view: view.companion.delete(first.id))
    assert len(await scope.read(index_of)) == 3
    assert read == [3, 1, 1, 3], "after a deletion all rows are read again"


async def test_a_large_index_is_not_read_on_the_event_loop(
    gieok: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    with_changes = SearchIndex.with_changes

    def note(index: SearchIndex, rows: Sequence[IndexRow]) -> SearchIndex:
        threads.append(threading.current_thread())
        return with_changes(index, rows)

    monkeypatch.setattr(SearchIndex, "with_changes", note)
    monkeypatch.setattr(search, "INLINE_ROWS", 2)
    companion = gieok.user("minsu").companion
    await save(scope_of(gieok), *(memory("면접", minute=minute) for minute in range(3)))
    assert len(await companion.search("hana", "면접")) == 3
    assert threads
    assert threading.main_thread() not in threads
    await save(scope_of(gieok), memory("면접", minute=9))
    assert len(await companion.search("hana", "면접")) == 4, "one more row may be read anywhere"


async def test_an_older_snapshot_has_its_own_index(gieok: Gieok) -> None:
    """It reads all rows, and does not replace the newer index."""
    scope = scope_of(gieok)
    await save(scope, memory())

    def look(view: SqlView) -> tuple[int, int]:
        cache = cast(Any, view)._caches.indexes
        current = index_of(view)
        ((key, (cached, size)),) = [(k, v) for k, v in cache.values.items() if k == ("persona", "hana")]
        newer = type(cached)(search.Revision(cached.revision.current + 1, 0, 0), search.EMPTY_INDEX)
        cache.put(key, newer, size)
        return len(index_of(view)), len(cache.get(key).index) + len(current)

    assert await scope.read(look) == (1, 1)


async def test_recall_disabled_finds_nothing(gieok: Gieok) -> None:
    scope = scope_of(gieok)
    await save(scope, memory())
    off = MemoryConfig(recall=False, active_limit=None)
    await scope.write(lambda view: view.companion.configure("hana", off))
    for persona in ("hana", "nobody"):
        assert await gieok.user("minsu").companion.search(persona, "면접 회사 영화") == ()


@pytest.mark.req("OPS-3")
async def test_erasing_an_owner_clears_the_cached_index(gieok: Gieok) -> None:
    await save(scope_of(gieok), memory(), memory(minute=1))
    assert await gieok.user("minsu").companion.search("hana", "면접")
    assert gieok.caches.indexes.bytes > 1_000
    await gieok.user("minsu").data.erase()
    assert gieok.caches.bytes == 0


async def test_a_write_transaction_caches_nothing(gieok: Gieok) -> None:
    """After a rollback its revision is given to another change."""
    scope = scope_of(gieok)
    await save(scope, memory())

    def save_and_undo(view: SqlView) -> None:
        view.companion.save([memory("회사", minute=1)])
        assert list(view.companion.index("hana", include_archived=True).find(["회사"])) == ["회사"]
        assert len(view.companion.load("hana", 5)) == 2
        assert len(view.companion.index("hana", include_archived=True).open([0, 1])) == 2
        raise _UndoneError

    with pytest.raises(_UndoneError):
        await scope.write(save_and_undo)
    await save(scope, memory("영화", minute=1))
    await scope.read(compare)
    assert (await gieok.user("minsu").companion.load("hana"))[0].summary == "영화"


DAMAGE = {
    "a missing row": "DELETE FROM memories WHERE number = 1",
    "does not decode": "UPDATE memories SET terms = {bytes}",
    "of another version": "UPDATE memories SET version = version + 1",
}


@pytest.mark.req("OPS-2")
@pytest.mark.parametrize("sql", DAMAGE.values(), ids=DAMAGE)
async def test_damaged_terms_fail_the_search(gieok: Gieok, behind: Behind, sql: str) -> None:
    await save(scope_of(gieok), memory("면접을 봄."), memory("회사에 감.", minute=1))
    literal = "X'706c61696e'" if gieok.database.dialect == "sqlite" else "'\\x706c61696e'::bytea"
    behind.run(sql.replace("{bytes}", literal))
    with pytest.raises(GieokError) as failed:
        await gieok.user("minsu").companion.search("hana", "회사")
    assert isinstance(failed.value.__cause__ or failed.value, StoreDamaged)
