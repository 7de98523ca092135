"""Vectors of documents: similarity, seals, and what puts, deletes, keys, erasures and imports leave."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from gieok import Gieok, User
from gieok.errors import InputRefused, StepFailed
from gieok.memory.documents.records import DocumentVectors, QueryVector
from tests.behind import Behind

NOTES = ("notes", "mina")


def vectors(*values: tuple[float, ...], space: str = "model") -> DocumentVectors:
    return DocumentVectors(space=space, values=values)


async def put(user: User, key: str, *values: tuple[float, ...], **put: Any) -> None:
    await user.documents.put(NOTES, key, {"text": key}, vectors=vectors(*values), **put)


async def similar(user: User, *values: float, space: str = "model", **asked: Any) -> dict[str, float | None]:
    """The found keys in order, with their scores."""
    query = QueryVector(space=space, values=values)
    found = await user.documents.search(("notes",), vector=query, **asked)
    return {hit.key: None if hit.score is None else round(hit.score, 3) for hit in found}


@pytest.fixture
async def user(gieok: Gieok) -> User:
    user = gieok.user("mina")
    await put(user, "east", (1.0, 0.0))
    await put(user, "north", (0.0, 2.0))
    await put(user, "both", (-3.0, 0.0), (1.0, 1.0))
    return user


async def test_the_most_similar_vector_of_a_document_counts(user: User) -> None:
    assert await similar(user, 5, 0) == {"east": 1.0, "both": 0.707, "north": 0.0}
    assert list(await similar(user, 0, 1, limit=1, offset=1)) == ["both"]
    assert await similar(user, 0, 1, filter={"text": "east"}) == {"east": 0.0}
    assert list(await similar(user, 0, 0)) == ["both", "north", "east"]
    (hit, *_) = await user.documents.search(NOTES, "east", vector=QueryVector(space="model", values=(1, 0)))
    assert hit.why is not None
    assert (hit.why.matched_words, hit.why.signals["vector"].rank) == (("east",), 1)


async def test_documents_without_a_vector_in_the_space_come_last(user: User) -> None:
    await user.documents.put(NOTES, "west wind", {"text": "west wind"})
    await user.documents.put(NOTES, "words", {"text": "words"})
    found = await similar(user, 1, 0, query="wind")
    assert list(found.items())[-2:] == [("west wind", None), ("words", None)]
    assert set((await similar(user, 1, 0, space="other")).values()) == {None}
    assert set((await similar(user, 1, 0, 0)).values()) == {None}


async def test_a_new_version_has_its_own_vectors(user: User, behind: Behind) -> None:
    await put(user, "east", (0.0, 1.0))
    await user.documents.put(NOTES, "north", {"text": "north"})
    assert await similar(user, 0, 1) == {"east": 1.0, "both": 0.707, "north": None}
    await user.documents.delete(NOTES, "both")
    assert behind.count("document_vectors") == 1


async def test_an_expired_document_leaves_no_vector(gieok: Gieok, behind: Behind) -> None:
    user = gieok.user("mina")
    await put(user, "gone", (1.0, 0.0), ttl=timedelta(microseconds=1))
    assert await similar(user, 1, 0) == {}
    assert await user.documents.sweep() == 1
    assert behind.count("document_vectors") == 0


async def test_vectors_are_sealed_bound_to_their_document_and_resealed(user: User, behind: Behind) -> None:
    before = behind.run("SELECT vectors FROM document_vectors ORDER BY root_id")
    await user.rotate_key()
    assert behind.run("SELECT vectors FROM document_vectors ORDER BY root_id") != before
    assert await similar(user, 5, 0) == {"east": 1.0, "both": 0.707, "north": 0.0}
    behind.run("UPDATE document_vectors SET vectors = (SELECT max(vectors) FROM document_vectors)")
    with pytest.raises(StepFailed, match="cannot be opened"):
        await similar(user, 1, 0)


async def test_an_erasure_removes_them_and_an_export_has_none(
    gieok: Gieok, user: User, behind: Behind
) -> None:
    """Like those of memories: vectors are made of the text, which an export has."""
    lines = [line async for line in user.data.export()]
    assert not any(b"vector" in line for line in lines)

    async def exported() -> AsyncIterator[bytes]:
        for line in lines:
            yield line

    await user.data.erase()
    assert behind.count("document_vectors") == 0
    other = gieok.user("junho")
    await other.data.import_(exported())
    assert set((await similar(other, 1, 0)).values()) == {None}


async def test_another_owner_finds_nothing(gieok: Gieok, user: User) -> None:
    assert await similar(gieok.user("junho"), 1, 0) == {}
    assert len(await similar(user, 1, 0)) == 3


@pytest.mark.parametrize(
    "values", [[], [[]], [[1.0], [1.0, 2.0]], [[float("nan")]], [[1e300]], [[1.0]] * 257, [[0.0] * 8193]]
)
async def test_what_is_no_vector_is_refused(gieok: Gieok, values: list[list[float]]) -> None:
    user = gieok.user("mina")
    with pytest.raises(InputRefused, match="vectors"):
        await user.documents.put(NOTES, "a", {}, vectors={"space": "m", "values": values})  # pyright: ignore[reportArgumentType]
    assert await user.documents.get(NOTES, "a") is None


async def test_a_check_finds_and_removes_vectors_of_another_version(
    gieok: Gieok, user: User, behind: Behind
) -> None:
    root = "(SELECT max(root_id) FROM document_heads)"
    behind.run(f"UPDATE document_vectors SET version = 7 WHERE root_id = {root}")
    report = await gieok.check_integrity(repair=True)
    assert ("index", "document_vectors") in {(each.kind, each.table) for each in report.damage}
    assert behind.count("document_vectors") == 2
