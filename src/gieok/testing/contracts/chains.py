"""Contract suite for stores of version chains. Subclass it and define the fixture `chains_of`.

class TestMyChains(ChainContract):
    @pytest.fixture
    def chains_of(self): ...   # returns an async function: owner → `read` and `write` over a ChainStore
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok.errors import Conflict, NotFound
from gieok.memory.chains import NEW, ChainStore, ChainVersion, VersionDraft

T = TypeVar("T")
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ALL = 1_000_000


class ChainScope(Protocol):
    """One owner's chains. Each call is one transaction."""

    async def read(self, work: Callable[[ChainStore], T]) -> T: ...
    async def write(self, work: Callable[[ChainStore], T]) -> T: ...


ChainsOf = Callable[[str], Awaitable[ChainScope]]


def draft(text: str = "one", minute: int = 0) -> VersionDraft:
    """A version with this content, made this many minutes after the start."""
    return VersionDraft(
        id=uuid4(), form=1, content=text.encode(), created_at=START + timedelta(minutes=minute)
    )


async def append(
    chains: ChainScope, root: UUID, text: str = "one", expected: int | None = None
) -> ChainVersion:
    """Append one version."""
    made = draft(text)
    return await chains.write(lambda store: store.append(root, made, expected))


async def history(chains: ChainScope, root: UUID) -> list[ChainVersion]:
    """The whole chain."""
    return list(await chains.read(lambda store: store.history(root, 0, ALL)))


def said(versions: list[ChainVersion]) -> list[tuple[int, str, bool]]:
    """Number, content and whether it is active."""
    return [(version.version, version.content.decode(), version.is_active) for version in versions]


class ChainContract:
    """Run against every store of chains."""

    @pytest.mark.req("DEC-4")
    async def test_a_change_appends_and_only_the_newest_is_active(self, chains_of: ChainsOf) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        first = await append(chains, root, "one", NEW)
        second = await append(chains, root, "two")
        assert (first.version, second.version, second.is_active) == (1, 2, True)
        assert said(await history(chains, root)) == [(1, "one", False), (2, "two", True)]
        assert await chains.read(lambda store: store.active([root])) == [second]

    @pytest.mark.req("DEC-4", "DEC-5")
    async def test_an_older_version_does_not_change(self, chains_of: ChainsOf) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        first = await append(chains, root, "one", NEW)
        await append(chains, root, "two")
        kept = (await history(chains, root))[0]
        assert kept == first.model_copy(update={"is_active": False})

    @pytest.mark.req("DEC-4")
    async def test_a_stale_expected_version_is_a_conflict_that_names_both(self, chains_of: ChainsOf) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        await append(chains, root, "one", NEW)
        await append(chains, root, "two", 1)
        for expected in (1, 3, NEW):
            with pytest.raises(Conflict, match=f"is at version 2, and version {expected} was expected"):
                await append(chains, root, "late", expected)
        assert said(await history(chains, root)) == [(1, "one", False), (2, "two", True)]

    async def test_appending_to_an_unknown_chain_is_not_found(self, chains_of: ChainsOf) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        for expected in (None, 1):
            with pytest.raises(NotFound, match=str(root)):
                await append(chains, root, "late", expected)
        with pytest.raises(NotFound, match=str(root)):
            await chains.write(lambda store: store.retire(root, None))
        assert await history(chains, root) == []

    @pytest.mark.req("DEC-4")
    async def test_a_failed_transaction_changes_nothing(self, chains_of: ChainsOf) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        await append(chains, root, "one", NEW)

        def append_and_fail(store: ChainStore) -> None:
            store.append(root, draft("two"), 1)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await chains.write(append_and_fail)
        assert said(await history(chains, root)) == [(1, "one", True)]
        assert (await append(chains, root, "two", 1)).version == 2

    async def test_a_retired_chain_has_no_active_version_and_keeps_its_history(
        self, chains_of: ChainsOf
    ) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        await append(chains, root, "one", NEW)
        with pytest.raises(Conflict):
            await chains.write(lambda store: store.retire(root, 7))
        await chains.write(lambda store: store.retire(root, 1))
        assert await chains.read(lambda store: store.active([root])) == []
        assert said(await history(chains, root)) == [(1, "one", False)]
        with pytest.raises(NotFound):
            await chains.write(lambda store: store.retire(root, None))

    async def test_a_new_version_reactivates_a_retired_chain(self, chains_of: ChainsOf) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        await append(chains, root, "one", NEW)
        await chains.write(lambda store: store.retire(root, 1))
        with pytest.raises(Conflict):
            await append(chains, root, "again", NEW)
        await append(chains, root, "two", 1)
        assert said(await history(chains, root)) == [(1, "one", False), (2, "two", True)]

    async def test_active_versions_are_returned_in_the_order_of_the_ids(self, chains_of: ChainsOf) -> None:
        chains = await chains_of("minsu")
        roots = [uuid4() for _ in range(5)]
        for root in roots:
            await append(chains, root, str(root), NEW)
        asked = [roots[3], uuid4(), roots[0], roots[3]]
        found = await chains.read(lambda store: store.active(asked))
        assert [version.root_id for version in found] == [roots[3], roots[0]]
        assert await chains.read(lambda store: store.active([])) == []

    async def test_history_is_read_in_pages(self, chains_of: ChainsOf) -> None:
        chains, root = await chains_of("minsu"), uuid4()
        await append(chains, root, "1", NEW)
        for number in range(2, 8):
            await append(chains, root, str(number))
        page = await chains.read(lambda store: store.history(root, 3, 2))
        assert said(list(page)) == [(4, "4", False), (5, "5", False)]

    @pytest.mark.req("OPS-4")
    async def test_owners_are_isolated(self, chains_of: ChainsOf) -> None:
        """Two owners may use the same root id, and each sees only their own chain."""
        minsu, jiyoung, root = await chains_of("minsu"), await chains_of("지영"), uuid4()
        await append(minsu, root, "of minsu", NEW)
        assert await history(jiyoung, root) == []
        await append(jiyoung, root, "of jiyoung", NEW)
        assert said(await history(minsu, root)) == [(1, "of minsu", True)]
        assert said(await history(jiyoung, root)) == [(1, "of jiyoung", True)]

    @pytest.mark.req("DEC-4")
    async def test_only_one_of_many_concurrent_writers_begins_a_chain(self, chains_of: ChainsOf) -> None:
        chains = await chains_of("minsu")
        for _ in range(10):
            root = uuid4()
            outcomes = await asyncio.gather(
                *(append(chains, root, str(writer), NEW) for writer in range(4)), return_exceptions=True
            )
            (winner,) = [made for made in outcomes if isinstance(made, ChainVersion)]
            assert sum(isinstance(made, Conflict) for made in outcomes) == 3
            assert await history(chains, root) == [winner]

    @pytest.mark.req("DEC-4")
    async def test_many_writers_leave_one_active_version_and_no_gap(self, chains_of: ChainsOf) -> None:
        """Half of them append without an expected version, half with the version that they read."""
        chains, root = await chains_of("minsu"), uuid4()
        appended = [await append(chains, root, "first", NEW)]

        async def write(writer: int) -> None:
            for number in range(8):
                text, seen = f"{writer}.{number}", None
                while True:
                    if writer % 2:
                        (newest,) = await chains.read(lambda store: store.active([root]))
                        seen = newest.version
                    try:
                        appended.append(await append(chains, root, text, seen))
                        break
                    except Conflict:
                        continue

        await asyncio.gather(*(write(writer) for writer in range(16)))
        kept = await history(chains, root)
        assert [version.version for version in kept] == list(range(1, 16 * 8 + 2))
        assert [version.version for version in kept if version.is_active] == [len(kept)]
        assert {(version.version, version.id) for version in kept} == {
            (version.version, version.id) for version in appended
        }

    @pytest.mark.req("DEC-4", "DEC-5")
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        acts=st.lists(
            st.tuples(st.sampled_from(["append", "retire"]), st.none() | st.integers(0, 5)), max_size=12
        )
    )
    async def test_any_sequence_of_operations_agrees_with_a_list(
        self, chains_of: ChainsOf, acts: list[tuple[str, int | None]]
    ) -> None:
        """Appending and retiring with any expected version, against a simple reference."""
        chains, root = await chains_of("minsu"), uuid4()
        expected: list[str] = []
        is_retired = False
        for act, seen in acts:
            text = f"{act} {len(expected)}"
            try:
                if act == "append":
                    await append(chains, root, text, seen)
                else:
                    await chains.write(lambda store, seen=seen: store.retire(root, seen))
            except (Conflict, NotFound):
                assert not _allowed(act, seen, len(expected), is_retired=is_retired)
                continue
            assert _allowed(act, seen, len(expected), is_retired=is_retired)
            is_retired = act == "retire"
            expected += [] if is_retired else [text]
        assert said(await history(chains, root)) == [
            (number, text, number == len(expected) and not is_retired)
            for number, text in enumerate(expected, start=1)
        ]


def _allowed(act: str, seen: int | None, latest: int, *, is_retired: bool) -> bool:
    if latest == 0:
        return act == "append" and seen == NEW
    return seen in (None, latest) and (act == "append" or not is_retired)
