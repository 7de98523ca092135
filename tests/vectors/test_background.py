"""Vectors in the background: workers, a change of embedder, one that is away, languages it does not know."""

from __future__ import annotations

import asyncio
import logging

import pytest

from gieok import Gieok, Settings, Worker
from gieok.adapters.sql.stores.jobs import claim_due
from gieok.app.background.discovery import Discovery
from gieok.app.background.jobs import LEASE
from gieok.errors import Conflict, InputRefused, StepFailed
from gieok.memory.companion.hits import MemoryHit
from gieok.testing.clock import Clock
from gieok.testing.contracts.companion import memory, save
from gieok.testing.embedders import LetterEmbedder
from tests.behind import Behind


async def keep(gieok: Gieok, *summaries: str, owner: str = "minsu") -> None:
    made = [memory(summary, minute=n) for n, summary in enumerate(summaries)]
    await save(gieok.scope(owner), *made)


async def work(gieok: Gieok) -> int:
    """Let a worker do all that it finds now. Returns how often it found something."""
    worker, times = Worker(gieok), 0
    while await worker.run_once(gieok.engine.clock()):
        times += 1
    return times


async def search(gieok: Gieok, query: str, owner: str = "minsu") -> tuple[MemoryHit, ...]:
    return await gieok.user(owner).companion.search("hana", query)


async def test_a_worker_makes_vectors_for_every_owner(settings: Settings, behind: Behind) -> None:
    """Until then, memories are found by their words."""
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        for owner in ("minsu", "jiyeon"):
            await keep(gieok, "a zebra", "an ox", owner=owner)
        (before,) = await search(gieok, "zebra")
        await work(gieok)
        assert behind.count("memory_vectors") == 4
        after = (await search(gieok, "zebra", "jiyeon"))[0]
        assert (before.memory.summary, after.memory.summary) == ("a zebra", "a zebra")
        assert after.why.signals["vectors"].value > 0


async def test_many_memories_are_embedded_batch_by_batch(settings: Settings) -> None:
    embedder = LetterEmbedder()
    async with await Gieok.open(settings, embedder=embedder) as gieok:
        await keep(gieok, *(f"memory {n}" for n in range(150)))
        assert await work(gieok) == 3
        assert sorted(embedder.embedded) == sorted(f"memory {n}" for n in range(150))


async def test_later_memories_are_embedded_by_the_same_job(settings: Settings, behind: Behind) -> None:
    """One job per persona, queued again when there is more to embed."""
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        await keep(gieok, "a zebra")
        assert await work(gieok) == 1
        await keep(gieok, "an ox")
        assert await work(gieok) == 1
        assert behind.run("SELECT kind, subject, status FROM jobs") == [("embed", "hana", "done")]
        assert behind.count("memory_vectors") == 2


async def test_concurrent_workers_share_the_work(settings: Settings) -> None:
    embedder = LetterEmbedder()
    async with (
        await Gieok.open(settings, embedder=embedder) as one,
        await Gieok.open(settings, embedder=embedder) as other,
    ):
        owners = [f"owner-{n}" for n in range(6)]
        for owner in owners:
            await keep(one, f"{owner} said this", owner=owner)
        await asyncio.gather(work(one), work(other))
        assert sorted(embedder.embedded) == [f"{owner} said this" for owner in owners]


async def test_another_embedder_embeds_everything_again(settings: Settings, behind: Behind) -> None:
    """Its space is its own: before it is filled nothing is compared, and the old one then goes."""
    async with await Gieok.open(settings, embedder=LetterEmbedder("old")) as gieok:
        await keep(gieok, "a zebra")
        await work(gieok)
    new = LetterEmbedder("new", dimension=16)
    async with await Gieok.open(settings, embedder=new) as gieok:
        (before,) = await search(gieok, "zebra")
        assert not before.why.signals.get("vectors") or before.why.signals["vectors"].value == 0
        await work(gieok)
        assert new.embedded == ["zebra", "a zebra"]
        assert behind.run("SELECT space FROM memory_vectors") == [("new@16",)]
        assert (await search(gieok, "zebra"))[0].why.signals["vectors"].value > 0


async def test_the_embedder_that_was_opened_last_is_used(settings: Settings, behind: Behind) -> None:
    """A worker that was left with another one undoes nothing, so that two never chase each other."""
    async with await Gieok.open(settings, embedder=LetterEmbedder("old")) as left:
        await keep(left, "a zebra")
        await work(left)
        async with await Gieok.open(settings, embedder=LetterEmbedder("new")) as now:
            assert await work(left) == 0
            with pytest.raises(Conflict, match="another embedder"):
                await left.user("minsu").companion.embed()
            await work(now)
            assert await work(left) == 0
    assert behind.run("SELECT space FROM memory_vectors") == [("new@32",)]


async def test_the_personas_of_a_dead_worker_are_reclaimed(settings: Settings, behind: Behind) -> None:
    clock = Clock()
    async with await Gieok.open(settings, embedder=LetterEmbedder(), clock=clock) as gieok:
        await keep(gieok, "a zebra")
        assert await Discovery(gieok).enqueue(clock.now, ["embed"], 9) == 1
        (held,) = await gieok.database.system(
            lambda tx: claim_due(tx, clock.now, clock.now + LEASE, ["embed"], 9)
        )
        assert (held.owner, held.job.subject) == ("minsu", "hana")
        assert (await work(gieok), behind.count("memory_vectors")) == (0, 0)
        clock.now += LEASE
        assert (await work(gieok), behind.count("memory_vectors")) == (1, 1)


async def test_an_embedder_that_is_down_is_retried_later(
    settings: Settings, behind: Behind, caplog: pytest.LogCaptureFixture
) -> None:
    clock, embedder = Clock(), LetterEmbedder()
    async with await Gieok.open(settings, embedder=embedder, clock=clock) as gieok:
        await keep(gieok, "a zebra")
        embedder.is_down = True
        with caplog.at_level(logging.WARNING):
            assert await work(gieok) == 1
        assert "MODEL_UNAVAILABLE" in caplog.text
        assert "zebra" not in caplog.text
        with pytest.raises(StepFailed, match="is down"):
            await gieok.user("minsu").companion.embed()
        embedder.is_down = False
        assert (await work(gieok), behind.count("memory_vectors")) == (0, 0)
        clock.now += LEASE
        assert (await work(gieok), behind.count("memory_vectors")) == (1, 1)


async def test_only_texts_in_a_supported_language_are_embedded(settings: Settings, behind: Behind) -> None:
    """An English model finds all Korean texts alike, so that any of them would seem close."""
    embedder = LetterEmbedder(languages={"en"})
    async with await Gieok.open(settings, embedder=embedder) as gieok:
        await keep(gieok, "a zebra", "동물원에서 얼룩말을 봄.")
        await work(gieok)
        (hit,) = await search(gieok, "얼룩말")
        assert hit.memory.summary == "동물원에서 얼룩말을 봄."
        assert embedder.embedded == ["a zebra"]
        assert (behind.count("memory_vectors"), await work(gieok)) == (1, 0)


async def test_memories_in_unsupported_languages_do_not_wait_for_a_vector(
    settings: Settings, behind: Behind
) -> None:
    """A persona whose talk is all Korean is done with an English model: no vector, and no error."""
    async with await Gieok.open(settings, embedder=LetterEmbedder(languages={"en"})) as gieok:
        await keep(gieok, "동물원에서 얼룩말을 봄.", "부산으로 이사함.")
        assert await gieok.user("minsu").companion.embed() == 0
        assert (await work(gieok), behind.count("memory_vectors")) == (0, 0)


async def test_embedding_without_an_embedder_is_refused(gieok: Gieok, behind: Behind) -> None:
    """No job is queued that nobody could run."""
    await keep(gieok, "a zebra")
    assert await work(gieok) == 0
    assert behind.count("jobs") == 0
    with pytest.raises(InputRefused, match="GIEOK_EMBEDDER"):
        await gieok.user("minsu").companion.embed()


async def test_a_limit_stops_between_batches(settings: Settings, behind: Behind) -> None:
    async with await Gieok.open(settings, embedder=LetterEmbedder()) as gieok:
        await keep(gieok, *(f"memory {n}" for n in range(70)))
        companion = gieok.user("minsu").companion
        assert (await companion.embed(1), await companion.embed(), await companion.embed()) == (64, 6, 0)
        assert behind.count("memory_vectors") == 70
