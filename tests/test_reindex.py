"""A changed analyzer: what an older one has indexed is made findable by the words that the new one makes."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from gieok import Gieok, Persona, Settings
from gieok.app import User
from gieok.app.background import jobs
from gieok.app.background.worker import Worker
from gieok.app.opening import ANALYZER
from gieok.memory.companion.records import MemoryChanges, MemoryDraft
from gieok.memory.decisions.records import DecisionProposal
from gieok.memory.turns import rules as turn_rules
from gieok.testing.models import CountingModel
from gieok.text import ANALYZER_VERSION
from tests.behind import Behind
from tests.turns.run_turn import run_turn

NOW, OLD = str(ANALYZER_VERSION), "0"
OWNERS = ("jiyoung", "minsu")
HUGO = Persona(name="Hugo", language="en", system_prompt="You are Hugo.")
INDEXES = {
    "turn_memories": "id, session_ref, at, terms, summary, keywords",
    "memories": "id, persona_id, number, topic_token, terms, version, content",
    "decision_heads": "root_id, version, domain_token, strength, created_at, terms",
    "document_heads": "root_id, version, name_token, namespace_token, updated_at, expires_at, terms",
}
"""The indexed tables, and the columns besides the revision."""
WITHOUT_LENGTHS = {
    "sqlite": "unhex(substr(hex(terms), 1, 16) || '00000000' || substr(hex(terms), 25))",
    "postgres": "overlay(terms PLACING '\\x00000000'::bytea FROM 9 FOR 4)",
}
"""Packed terms with zeros for the lengths in their header, as the migration made them of some rows."""
RUST = DecisionProposal(statement="Write parsers in Rust", strength="normal", scope="global")


@contextmanager
def old_analyzer() -> Generator[None]:
    """Cuts texts into other words than Gieok does now, fewer or more of them."""

    def cut(text: str) -> list[str]:
        return [part for word in text.split() for part in (word[::-1], word[:2])]

    def forget() -> None:
        turn_rules.whole_words.cache_clear()
        turn_rules.word_parts.cache_clear()

    with pytest.MonkeyPatch.context() as patch:
        for place in ("turns.rules", "companion.recall.query", "decisions.rules", "documents.rules"):
            patch.setattr(f"gieok.memory.{place}.terms", cut)
        patch.setattr("gieok.memory.turns.rules.words", cut)
        forget()
        yield
    forget()


async def remember(user: User) -> None:
    """Something in each room that has a search index; some of it archived, edited, in several sessions."""
    for number, said in enumerate(["the interview is on Monday", "interviews make me nervous", "it rained"]):
        await run_turn(user, f"s{number % 2}", said, persona=HUGO)
    made = [
        await user.companion.create(
            MemoryDraft(persona_id=persona, summary=summary, topics=("interviews",), tags=("work",)),
            account_plan="premium",
        )
        for persona in ("hana", "mina")
        for summary in ("Interviews make the user nervous.", "비가 와서 면접에 늦었음.", "They went home.")
    ]
    await user.companion.archive(made[0].memory.id)
    await user.companion.edit(made[1].memory.id, MemoryChanges(importance=8))
    root = (await user.decisions.save(RUST)).root_id
    await user.decisions.save(RUST.model_copy(update={"root_id": root, "statement": "Write lexers in Zig"}))
    await user.decisions.save(RUST)
    for number, text in enumerate(["The interview is on Monday", "면접에 늦었음", "It rained"]):
        await user.documents.put(("notes", str(number % 2)), str(number), {"text": text})


async def walk(
    gieok: Gieok, analyzer: str, *, parts: int | None = None, ahead: timedelta = timedelta()
) -> int:
    """Re-index by jobs, to the end or for some of them. Returns how many jobs ran.

    `ahead` of the clock, jobs that wait for a retry are due too.
    """
    worker, done = Worker(gieok, jobs_at_once=1), 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "ANALYZER", analyzer)
        patch.setattr(jobs, "REINDEX_BATCH", 2)
        while (parts is None or done < parts) and await worker.run_once(gieok.engine.clock() + ahead):
            done += 1
    return done


def indexes(behind: Behind) -> dict[str, set[tuple[Any, ...]]]:
    rows = {name: behind.run(f"SELECT owner, {columns} FROM {name}") for name, columns in INDEXES.items()}
    return {name: set(found) for name, found in rows.items()}


async def found(user: User) -> list[bool]:
    """Whether each room finds what the words of today should find."""
    turn = await run_turn(user, "s1", "interview", persona=HUGO)
    memories = await user.companion.search("hana", "면접")
    layers = await user.decisions.context("parsing", q="parsers")
    said = [str(item) for layer in layers.layers for item in layer.items]
    documents = await user.documents.search(("notes",), "면접")
    return [
        bool(turn.recalled),
        any("면접" in hit.why.matched_words for hit in memories),
        any("Rust" in text for text in said),
        [each.key for each in documents] == ["1"],
    ]


@pytest.fixture
async def old(settings: Settings) -> None:
    """A database that an older Gieok has filled."""
    with old_analyzer():
        async with await Gieok.open(settings, model=CountingModel()) as gieok:
            for owner in OWNERS:
                await remember(gieok.user(owner))
            await gieok.database.set_meta(ANALYZER, OLD)


async def test_every_index_is_what_the_new_analyzer_would_have_made(
    settings: Settings, behind: Behind
) -> None:
    """There and back: the indexes are as they were, and nothing else has changed on the way."""
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        for owner in OWNERS:
            await remember(gieok.user(owner))
        fresh = indexes(behind)
        with old_analyzer():
            await walk(gieok, OLD)
        assert all(indexes(behind)[name] != fresh[name] for name in INDEXES)
        await walk(gieok, NOW)
        assert indexes(behind) == fresh
        assert await gieok.database.get_meta(ANALYZER) == NOW


async def test_terms_from_a_migration_are_rebuilt(settings: Settings, behind: Behind) -> None:
    """Each room finds its rows by them before."""
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        for owner in OWNERS:
            await remember(gieok.user(owner))
        fresh = indexes(behind)
        for table in INDEXES:
            behind.run(f"UPDATE {table} SET terms = {WITHOUT_LENGTHS[gieok.database.dialect]}")
        assert all(indexes(behind)[name].isdisjoint(fresh[name]) for name in INDEXES)
        await gieok.database.set_meta(ANALYZER, OLD)
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        assert all(await found(gieok.user("minsu")))
        await walk(gieok, NOW)
        assert all(indexes(behind)[name] >= fresh[name] for name in INDEXES)


@pytest.mark.usefixtures("old")
async def test_a_worker_makes_what_was_missed_findable(settings: Settings) -> None:
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        user = gieok.user("minsu")
        assert not all(await found(user))
        stop = asyncio.Event()
        working = asyncio.create_task(Worker(gieok, idle_seconds=0.01).run(stop))
        async with asyncio.timeout(60):
            while await gieok.database.get_meta(ANALYZER) != NOW:
                pass
        stop.set()
        await working
        assert all(await found(user))


@pytest.mark.usefixtures("old")
async def test_a_walk_that_was_cut_off_goes_on_where_it_was(settings: Settings) -> None:
    """The next process does what is left, but for a look at each owner; the analyzer is noted at the end."""
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        parts = await walk(gieok, "another")
        assert await walk(gieok, NOW, parts=parts // 2) == parts // 2
        assert await gieok.database.get_meta(ANALYZER) == "another"
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        assert await walk(gieok, NOW) <= parts - parts // 2 + len(OWNERS)
        assert await gieok.database.get_meta(ANALYZER) == NOW
        assert all(await found(gieok.user("minsu")))


@pytest.mark.usefixtures("old")
async def test_several_workers_and_writers_at_once_make_one_right_index(
    settings: Settings, behind: Behind
) -> None:
    async with (
        await Gieok.open(settings, model=CountingModel()) as gieok,
        await Gieok.open(settings, model=CountingModel()) as other,
    ):
        await asyncio.gather(
            walk(gieok, NOW), walk(other, NOW), remember(gieok.user("minsu")), remember(other.user("new"))
        )
        # A batch that met a writer is retried after a few seconds.
        await walk(gieok, NOW, ahead=timedelta(minutes=1))
        made = indexes(behind)
        await walk(gieok, "there")
        await walk(gieok, "back")
        assert indexes(behind) == made


@pytest.mark.usefixtures("old")
async def test_a_damaged_owner_does_not_stop_the_others(settings: Settings, behind: Behind) -> None:
    """The analyzer is not noted then: the next start tries again."""
    behind.run("UPDATE turn_memories SET keywords = summary WHERE owner = 'jiyoung'")
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        await walk(gieok, NOW)
        assert await gieok.database.get_meta(ANALYZER) == OLD
        assert all(await found(gieok.user("minsu")))


async def test_an_index_of_this_analyzer_is_left_alone(gieok: Gieok, behind: Behind) -> None:
    await remember(gieok.user("minsu"))
    assert await walk(gieok, NOW) == 0
    assert behind.count("search_indexes") == 0


@pytest.mark.usefixtures("old")
async def test_a_job_for_another_analyzer_waits(settings: Settings, behind: Behind) -> None:
    """While versions run side by side, an older process must not index with the words of its own analyzer."""
    async with await Gieok.open(settings, model=CountingModel()) as gieok:
        await walk(gieok, "newer", parts=1)
        before = indexes(behind)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jobs, "ANALYZER", OLD)
            assert await Worker(gieok, jobs_at_once=1).run_once(gieok.engine.clock()) == 1
        assert indexes(behind) == before
        assert ("queued", "CONFLICT") in behind.run("SELECT status, error FROM jobs WHERE kind = 'reindex'")
