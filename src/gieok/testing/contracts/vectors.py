"""Contract suite for stores of vectors. Subclass it and define the fixture `scope_of`.

class TestMyStore(VectorStoreContract):
    @pytest.fixture
    def scope_of(self): ...   # returns a function: owner → a scope with async `read(work)` and `write(work)`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import pytest

from gieok.memory.companion.records import Memory
from gieok.memory.companion.store import CompanionView
from gieok.memory.companion.vectors.search import Embedded, Revision, StoredVector, VectorView, Waiting
from gieok.testing.contracts.companion import START, memory

T = TypeVar("T")
SPACE = "letters@4"


class MemoriesView(CompanionView, VectorView, Protocol):
    """Memories and their vectors."""


class VectorScope(Protocol):
    """One owner's memories and vectors, with one transaction per call."""

    async def read(self, work: Callable[[MemoriesView], T]) -> T: ...
    async def write(self, work: Callable[[MemoriesView], T]) -> T: ...


VectorScopeOf = Callable[[str], VectorScope]


async def keep(scope: VectorScope, *memories: Memory) -> None:
    """Save all of them in one transaction."""

    def save_all(view: MemoriesView) -> None:
        for each in memories:
            view.companion.save([each])

    await scope.write(save_all)


async def waiting(scope: VectorScope, space: str = SPACE, limit: int = 100, persona: str = "hana") -> Waiting:
    """The memories that wait for a vector in a space, which becomes the persona's current space."""
    await scope.write(lambda view: view.vectors.begin(persona, space))
    return await scope.read(lambda view: view.vectors.waiting(persona, space, limit))


def vectors_of(waits: Waiting) -> tuple[Embedded, ...]:
    """A vector for each: its number, eight times as a byte."""
    return tuple(
        Embedded(
            number=each.number,
            memory_id=each.memory_id,
            version=each.version,
            values=bytes([each.number] * 8),
        )
        for each in waits.memories
    )


async def store(
    scope: VectorScope,
    waits: Waiting,
    space: str = SPACE,
    made: Sequence[Embedded] | None = None,
    persona: str = "hana",
) -> int:
    """Save the vectors of the waiting memories."""
    kept = vectors_of(waits) if made is None else made
    return await scope.write(lambda view: view.vectors.save(persona, space, kept, waits))


async def embed(scope: VectorScope, space: str = SPACE, persona: str = "hana") -> int:
    """Embed every waiting memory."""
    return await store(scope, await waiting(scope, space, persona=persona), space, persona=persona)


async def kept(scope: VectorScope, space: str = SPACE, persona: str = "hana") -> list[StoredVector]:
    """Every vector of a space, newest memory first."""
    return list(await scope.read(lambda view: view.vectors.newest(persona, space, None, 1_000)))


async def numbers(scope: VectorScope, space: str = SPACE, persona: str = "hana") -> list[int]:
    """The numbers of the memories that have a vector."""
    return sorted(await scope.read(lambda view: view.vectors.numbers(persona, space)))


async def marked(scope: VectorScope, persona: str = "hana") -> Revision:
    """The change marks of a persona's vectors."""
    return await scope.read(lambda view: view.vectors.revision(persona))


async def edit(scope: VectorScope, before: Memory, summary: str = "other words") -> Memory:
    """Save the next version of a memory."""
    after = before.model_copy(update={"summary": summary, "version": before.version + 1})
    await scope.write(lambda view: view.companion.replace(after))
    return after


class VectorStoreContract:
    """Run against every store of vectors."""

    async def test_a_saved_vector_is_returned_unchanged(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        await keep(scope, memory(), memory(minute=1))
        assert await embed(scope) == 2
        found = await kept(scope)
        assert [(each.number, each.values, each.is_archived) for each in found] == [
            (2, b"\x02" * 8, False),
            (1, b"\x01" * 8, False),
        ]

    async def test_waiting_memories_come_in_pages_oldest_first(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        await keep(scope, *(memory(f"words {n}", minute=n) for n in range(5)))
        seen: list[str] = []
        while (waits := await waiting(scope, limit=2)).memories:
            seen += [each.text for each in waits.memories]
            await store(scope, waits)
        assert seen == [f"words {n}" for n in range(5)]
        assert await scope.read(lambda view: view.vectors.unfinished(SPACE, 9)) == []

    async def test_a_memory_without_a_vector_is_skipped_permanently(self, scope_of: VectorScopeOf) -> None:
        """For example one in a language that the model does not support."""
        scope = scope_of("minsu")
        await keep(scope, memory())
        waits = await waiting(scope)
        made = [each.model_copy(update={"values": None}) for each in vectors_of(waits)]
        assert await store(scope, waits, made=made) == 0
        assert (await waiting(scope)).memories == ()

    async def test_an_edited_memory_waits_again(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        first = memory()
        await keep(scope, first, memory(minute=1))
        await embed(scope)
        before = await marked(scope)
        await edit(scope, first)
        assert await numbers(scope) == [2]
        assert (await marked(scope)).removed > before.stamp
        assert [each.text for each in (await waiting(scope)).memories] == ["other words"]

    async def test_a_memory_edited_during_embedding_waits_again(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        first = memory()
        await keep(scope, first, memory(minute=1))
        waits = await waiting(scope)
        await edit(scope, first)
        assert await store(scope, waits) == 1
        assert [each.version for each in (await waiting(scope)).memories] == [2]

    async def test_an_edit_of_another_memory_during_embedding_is_not_lost(
        self, scope_of: VectorScopeOf
    ) -> None:
        """The first is edited, so that the scan starts there; then the second, behind it."""
        scope = scope_of("minsu")
        first, second = memory(), memory(minute=1)
        await keep(scope, first, second)
        await embed(scope)
        await edit(scope, first)
        waits = await waiting(scope)
        await edit(scope, second)
        await store(scope, waits)
        assert [each.number for each in (await waiting(scope)).memories] == [2]

    async def test_deleting_a_memory_deletes_its_vector(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        first = memory()
        await keep(scope, first, memory(minute=1))
        await embed(scope)
        before = await marked(scope)
        await scope.write(lambda view: view.companion.delete(first.id))
        assert await numbers(scope) == [2]
        assert (await marked(scope)).removed > before.stamp
        assert (await waiting(scope)).memories == ()

    async def test_a_memory_deleted_during_embedding_gets_no_vector(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        gone = memory()
        await keep(scope, gone)
        waits = await waiting(scope)
        await scope.write(lambda view: view.companion.delete(gone.id))
        assert (await store(scope, waits), await numbers(scope)) == (0, [])

    async def test_archiving_keeps_the_vector_and_changes_its_stamp(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        first = memory()
        await keep(scope, first, memory(minute=1))
        await embed(scope)
        before = await marked(scope)
        await scope.write(lambda view: view.companion.archive(first.id, START))
        (changed,) = await scope.read(lambda view: view.vectors.since("hana", SPACE, before.stamp + 1, 0, 9))
        assert (changed.number, changed.is_archived) == (1, True)
        assert (await marked(scope)) == Revision(changed.stamp, before.removed)
        await scope.write(lambda view: view.companion.restore(first.id))
        assert not any(each.is_archived for each in await kept(scope))

    async def test_changes_come_in_pages(self, scope_of: VectorScopeOf) -> None:
        """Even where many vectors share a stamp, because they were stored together."""
        scope = scope_of("minsu")
        await keep(scope, *(memory(minute=n) for n in range(5)))
        await embed(scope)
        stamp, number, seen = 0, 0, list[int]()
        while page := await scope.read(
            lambda view, s=stamp, n=number: view.vectors.since("hana", SPACE, s, n, 2)
        ):
            seen += [each.number for each in page]
            stamp, number = page[-1].stamp, page[-1].number
        assert seen == [1, 2, 3, 4, 5]

    async def test_the_old_space_stays_until_the_new_one_is_complete(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        await keep(scope, memory(), memory(minute=1))
        await embed(scope)
        waits = await waiting(scope, "other@4", limit=1)
        await store(scope, waits, "other@4")
        assert (await numbers(scope), await numbers(scope, "other@4")) == ([1, 2], [1])
        await embed(scope, "other@4")
        assert (await numbers(scope), await numbers(scope, "other@4")) == ([], [1, 2])

    async def test_a_worker_of_another_space_stores_nothing(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        await keep(scope, memory())
        late = await waiting(scope, "other@4")
        waits = await waiting(scope)
        assert (await store(scope, late, "other@4"), await numbers(scope, "other@4")) == (0, [])
        assert await store(scope, waits) == 1

    async def test_two_workers_may_embed_the_same_memories(self, scope_of: VectorScopeOf) -> None:
        scope = scope_of("minsu")
        await keep(scope, memory(), memory(minute=1))
        one, other = await waiting(scope), await waiting(scope)
        assert (await store(scope, one), await store(scope, other)) == (2, 0)
        assert await numbers(scope) == [1, 2]

    @pytest.mark.req("COMP-7")
    async def test_owners_and_personas_are_isolated(self, scope_of: VectorScopeOf) -> None:
        minsu, jiyeon = scope_of("minsu"), scope_of("jiyeon")
        await keep(minsu, memory(), memory(persona_id="duri"))
        await keep(jiyeon, memory())
        await embed(minsu)
        assert await minsu.read(lambda view: view.vectors.unfinished(SPACE, 9)) == ["duri"]
        assert (await numbers(minsu), await numbers(minsu, persona="duri")) == ([1], [])
        assert await numbers(jiyeon) == []
