"""Comparing by vectors: what a query is close to, in step with the database, in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import numpy as np
import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.scope import OwnerScope, SqlView
from gieok.app.embedding import make_vector_search
from gieok.errors import InputRefused, ModelUnavailable
from gieok.memory.companion.records import Memory, MemoryChanges
from gieok.memory.companion.vectors.matrix import MatrixCache, check_vectors
from gieok.memory.companion.vectors.search import VectorSearch
from gieok.testing.contracts.companion import memory, save
from gieok.testing.embedders import LetterEmbedder

ANIMALS = ("a zebra", "an ox", "a cat", "a mouse")


@pytest.fixture
async def embedding(settings: Settings) -> AsyncIterator[Gieok]:
    """Gieok with an embedder that counts letters."""
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as opened:
        yield opened


def scope_of(gieok: Gieok, owner: str = "minsu") -> OwnerScope:
    return gieok.scope(owner)


async def keep(gieok: Gieok, *summaries: str, owner: str = "minsu") -> list[Memory]:
    made = [memory(summary, minute=n) for n, summary in enumerate(summaries)]
    await save(scope_of(gieok, owner), *made)
    await gieok.user(owner).companion.embed()
    return made


async def close_to(
    gieok: Gieok,
    query: str,
    *,
    owner: str = "minsu",
    archived: bool = True,
    vector_search: VectorSearch | None = None,
) -> Mapping[int, float]:
    by = vector_search or gieok.vector_search
    assert by is not None
    asked = await by.embed_query(query)
    assert asked is not None
    numbers, cosines = await scope_of(gieok, owner).read(
        lambda view: by.compare(view.vectors, "hana", asked, include_archived=archived)
    )
    return dict(zip(numbers.tolist(), cosines.tolist(), strict=True))


async def test_the_cosine_of_every_memory(embedding: Gieok) -> None:
    """As exact as half floats are."""
    await keep(embedding, *ANIMALS)
    found = await close_to(embedding, "zebra")
    letters = np.array(await LetterEmbedder().embed_documents(["zebra", *ANIMALS]))
    letters /= np.linalg.norm(letters, axis=1, keepdims=True)
    cosines: list[float] = (letters[1:] @ letters[0]).tolist()
    assert found == pytest.approx(dict(enumerate(cosines, start=1)), abs=2e-3)
    assert max(found, key=lambda number: found[number]) == 1


async def test_the_next_comparison_sees_every_change(embedding: Gieok) -> None:
    companion = embedding.user("minsu").companion
    zebra, ox, cat, _ = await keep(embedding, *ANIMALS)
    assert set(await close_to(embedding, "zebra")) == {1, 2, 3, 4}
    await companion.delete(ox.id)
    await companion.archive(cat.id)
    await companion.edit(zebra.id, MemoryChanges(summary="qqq"))
    assert set(await close_to(embedding, "zebra")) == {3, 4}
    assert set(await close_to(embedding, "zebra", archived=False)) == {4}
    await keep(embedding, "a zebra again")
    found = await close_to(embedding, "zebra", archived=False)
    assert (set(found), found[1]) == ({1, 4, 5}, 0.0)


async def test_two_processes_see_each_others_work(settings: Settings) -> None:
    """Each keeps vectors in memory; the stamps in the database say which of them are still right."""
    async with (
        await Gieok.open(settings, embedder=LetterEmbedder()) as one,
        await Gieok.open(settings, embedder=LetterEmbedder()) as other,
    ):
        zebra, _ = await keep(one, "a zebra", "an ox")
        assert set(await close_to(other, "zebra")) == {1, 2}
        await one.user("minsu").companion.delete(zebra.id)
        await keep(other, "a cat")
        assert set(await close_to(one, "zebra")) == set(await close_to(other, "zebra")) == {2, 3}


async def test_an_older_snapshot_gets_no_later_memories(embedding: Gieok) -> None:
    """While one reads, another embeds and compares: the vectors in memory are then ahead of the reader."""
    await keep(embedding, "a zebra")
    vector_search, loop = embedding.vector_search, asyncio.get_running_loop()
    assert vector_search is not None
    asked = await LetterEmbedder().embed_query("zebra")

    async def overtake() -> set[int]:
        await keep(embedding, "an ox")
        return set(await close_to(embedding, "ox"))

    def read(view: SqlView) -> tuple[set[int], set[int]]:
        assert view.vectors.revision("hana").stamp == 1
        ahead = asyncio.run_coroutine_threadsafe(overtake(), loop).result()
        numbers, _ = vector_search.compare(view.vectors, "hana", asked, include_archived=True)
        return ahead, set(numbers.tolist())

    assert await scope_of(embedding).read(read, heavy=True) == ({1, 2}, {1})


async def test_matrices_are_separate_by_owner(embedding: Gieok) -> None:
    await keep(embedding, "a zebra")
    await keep(embedding, "an ox", "a cat", owner="jiyeon")
    assert set(await close_to(embedding, "zebra")) == {1}
    assert set(await close_to(embedding, "zebra", owner="jiyeon")) == {1, 2}


async def test_the_matrix_cache_is_bounded_and_results_stay_right(embedding: Gieok) -> None:
    """With room for the vectors of one owner only, those that were not used for longest go."""
    owners = [f"owner-{n}" for n in range(4)]
    for owner in owners:
        await keep(embedding, *ANIMALS, owner=owner)
    matrices = MatrixCache(5 * (4 * 32 + 160))
    vector_search = VectorSearch(LetterEmbedder(), matrices)
    for owner in owners * 2:
        assert set(await close_to(embedding, "cat", owner=owner, vector_search=vector_search)) == {1, 2, 3, 4}
        assert 0 < matrices.bytes <= 5 * (4 * 32 + 160)


async def test_of_too_many_vectors_the_newest_are_compared(embedding: Gieok) -> None:
    await keep(embedding, *ANIMALS)
    vector_search = VectorSearch(LetterEmbedder(), MatrixCache(2 * (4 * 32 + 160)))
    assert set(await close_to(embedding, "cat", vector_search=vector_search)) == {3, 4}
    await keep(embedding, "a dog")
    assert set(await close_to(embedding, "cat", vector_search=vector_search)) == {4, 5}


@pytest.mark.req("OPS-3")
async def test_an_erasure_and_a_key_rotation_clear_the_matrices(embedding: Gieok) -> None:
    matrices: MatrixCache = cast(Any, embedding.vector_search)._matrices
    user = embedding.user("minsu")
    for end in (user.rotate_key, user.data.erase):
        await keep(embedding, "a zebra")
        await close_to(embedding, "zebra")
        assert matrices.bytes > 0
        await end()
        assert matrices.bytes == 0


async def test_a_persona_without_memories_has_no_similar_ones(embedding: Gieok) -> None:
    assert await close_to(embedding, "zebra") == {}


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0, 2.0]], "for 2 texts"),
        ([[1.0, 2.0], [1.0]], "vectors of numbers"),
        ([[1.0], [2.0]], "of length 1"),
        ([[1.0, float("nan")], [1.0, 2.0]], "finite"),
        ([[1.0, float("inf")], [1.0, 2.0]], "finite"),
        ([[1e300, 1.0], [1.0, 2.0]], "finite"),
        ([["a", "b"], ["c", "d"]], "vectors of numbers"),
        ([[None, 1.0], [1.0, 2.0]], "finite|numbers"),
    ],
)
def test_invalid_vectors_are_refused(vectors: list[list[float]], said: str) -> None:
    with pytest.raises(ModelUnavailable, match=said):
        check_vectors(vectors, 2, 2)


def test_an_embedder_needs_a_valid_name() -> None:
    with pytest.raises(InputRefused, match="embedder"):
        make_vector_search(LetterEmbedder(name="x" * 200), 1)
