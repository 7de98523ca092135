"""Invariants that must hold after any crash. Violations are returned as texts."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import UUID

import apsw

from gieok.adapters.sql.driver.database import Row, Tx, Value
from gieok.adapters.sql.stores.turns import SqlMemoryStore
from gieok.app import Gieok
from gieok.app.background.worker import Worker
from gieok.errors import GieokError, OwnerErased
from gieok.memory.turns.records import MemoryItem
from gieok.testing.models import CountingModel
from gieok.vault import OwnerKeys, Vault
from gieok.vault import Place as SealedPlace
from tests.crash.place import Place, Story
from tests.crash.tables import MemoryRow, Tables, damage, read_tables
from tests.crash.writer import ObservingModel, new_word, take_turn

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def violations(place: Place, story: Story) -> list[str]:
    """Open the database as the next process would, and compare it with what was acknowledged."""
    try:
        async with await Gieok.open(place.settings, model=CountingModel()) as gieok:
            return await _violations(gieok, place, story)
    except (GieokError, apsw.Error) as error:
        return [f"cannot be opened and read: {error}"]


async def _violations(gieok: Gieok, place: Place, story: Story) -> list[str]:
    tables = await asyncio.to_thread(read_tables, place)
    return [
        *await asyncio.to_thread(damage, place),
        *half_written(tables, gieok.vault),
        *lost(tables, story),
        *await unfound(gieok, story),
        *not_erased(tables, gieok.vault, story),
        *await refused(gieok, story),
    ]


async def remember(place: Place, story: Story) -> tuple[int, list[str]]:
    """Let the next process finish what is to be remembered. Returns how many jobs a killed one has left, and
    the turns that are not remembered exactly once."""
    async with await Gieok.open(place.settings, model=ObservingModel(), clock=place.now) as gieok:
        owners = sorted({answered.owner for answered in story.answered})
        left = sum([await _unfinished(gieok, owner) for owner in owners])
        worker = Worker(gieok)
        while await worker.run_once(place.now()):
            pass
        tables = await asyncio.to_thread(read_tables, place)
        return left, [
            text for owner in owners for text in await _wrongly_remembered(gieok, owner, tables, story)
        ]


async def _unfinished(gieok: Gieok, owner: str) -> int:
    jobs = await gieok.user(owner).jobs.list(limit=1000)
    return sum(job.kind == "remember" and job.status in ("queued", "running") for job in jobs)


async def _wrongly_remembered(gieok: Gieok, owner: str, tables: Tables, story: Story) -> list[str]:
    """Compares the log with turn memories and facts. An unanswered turn may be in all of them or in none."""
    user, keys = gieok.user(owner), gieok.vault.keys(owner)
    sessions = (await user.sessions.list(limit=100)).sessions
    logs = [await user.sessions.log(session.session_ref) for session in sessions]
    said = Counter(each.content.split()[0] for log in logs for each in log if each.role == "user")
    memories = Counter(_keywords(row, keys)[0] for row in tables.memories if row.owner == owner)
    facts = Counter({fact.key: fact.version for fact in await user.canon.facts("hana", limit=1000)})
    problems = [
        f"{kind} of the turn {word} of {owner}: {found[word]} instead of 1"
        for kind, found in (("turn memories", memories), ("versions of the fact", facts))
        for word in said.keys() | found.keys()
        if found[word] != 1
    ]
    answered = [each.word for each in story.answered if each.owner == owner]
    return problems + [
        f"the turn {word} of {owner} was answered and is lost" for word in answered if said[word] != 1
    ]


def half_written(tables: Tables, vault: Vault) -> Iterator[str]:
    """Every memory opens and has its session and exactly its terms, and is in the index of its session; no
    row lacks its parent."""
    last: dict[tuple[str, str], int] = {}
    changed: dict[tuple[str, str], list[int]] = {}
    for row in tables.memories:
        try:
            if bytes(row.terms) != _terms(row, vault.keys(row.owner)):
                yield f"the terms of {_name(row)} are not those of its keywords"
        except GieokError as error:
            yield f"memory {_name(row)} does not open: {error}"
        last[row.owner, row.session] = max(row.at, last.get((row.owner, row.session), 0))
        changed.setdefault((row.owner, row.session), []).append(row.changed)
        if row.owner not in tables.owners:
            yield f"memory {_name(row)} has no owner"
    for owner, session in changed.keys() | tables.scopes.keys():
        revisions = sorted(changed.get((owner, session), ()))
        if revisions != list(range(1, tables.scopes.get((owner, session), 0) + 1)):
            yield f"the index of session {session} of {owner} has another revision than its memories"
    for (owner, session), at in tables.sessions.items():
        if at != last.get((owner, session)):
            yield f"session {session} of {owner} was last active at another time than its newest memory"
    for owner, session in last.keys() - tables.sessions.keys():
        yield f"session {session} of {owner} does not exist, and memories are in it"


def lost(tables: Tables, story: Story) -> Iterator[str]:
    """Everything acknowledged exists. An owner whose erasure was interrupted has everything or nothing."""
    there = {UUID(bytes=bytes(row.id)) for row in tables.memories}
    missing = [saved for saved in story.saved if saved.memory not in there]
    untouched = {saved.owner for saved in story.saved if saved.memory in there}
    for saved in missing:
        if saved.owner not in story.erasing or saved.owner in untouched:
            yield f"memory {saved.memory} of {saved.owner} was acknowledged and is lost"


async def unfound(gieok: Gieok, story: Story) -> list[str]:
    """The newest acknowledged memories are found by their words."""
    problems: list[str] = []
    for saved in [saved for saved in story.saved if saved.owner not in story.erasing][-40:]:
        scope = gieok.scope(saved.owner)
        try:
            found = await scope.read(
                lambda view, saved=saved: view.turns.search(saved.session, saved.word, 5)
            )
        except GieokError as error:
            problems.append(f"the search of {saved.owner} fails: {error}")
            continue
        if saved.memory not in {memory.id for memory in found}:
            problems.append(f"memory {saved.memory} of {saved.owner} is not found by its word")
    return problems


def not_erased(tables: Tables, vault: Vault, story: Story) -> Iterator[str]:
    """Opening the database has finished every erasure that had begun."""
    for owner in vault.unfinished_erasures():
        yield f"the erasure of {owner} was not finished"
    left = {row.owner for row in tables.memories} | {owner for owner, _ in tables.scopes}
    left |= {owner for owner, _ in tables.sessions} | tables.owners
    for owner in left:
        if owner in story.erased or vault.is_erased(owner):
            yield f"{owner} was erased, but still has rows"


async def refused(gieok: Gieok, story: Story) -> list[str]:
    """The next process can continue: owners who were not erased can take a turn, and erased ones cannot."""
    problems: list[str] = []
    chance = random.Random(len(story.saved))
    for owner, session in {(saved.owner, saved.session): None for saved in story.saved[-40:]}:
        try:
            story.saved.append(await take_turn(gieok.user(owner), owner, session, new_word(chance)))
        except OwnerErased:
            if owner not in story.erasing:
                problems.append(f"{owner} counts as erased without a request")
        except GieokError as error:
            problems.append(f"{owner} cannot continue: {error}")
        else:
            if owner in story.erased:
                problems.append(f"{owner} was erased but could store again")
    return problems


class _Recorder:
    """Replaces a transaction and records the terms that a store writes."""

    def __init__(self) -> None:
        self.terms = b""

    def one(self, query: str, /, **params: Value) -> Row:
        return (1,)

    def run(self, query: str, /, **params: Value) -> int:
        self.terms = cast(bytes, params["terms"])
        return 1


def _terms(row: MemoryRow, keys: OwnerKeys) -> bytes:
    """The terms of a row, as the store makes them for the same memory."""
    identity = UUID(bytes=bytes(row.id))
    recorder = _Recorder()
    item = MemoryItem(
        id=identity,
        session_ref=row.session,
        timestamp=_EPOCH + timedelta(microseconds=row.at),
        summary=_open(keys, "summary", identity, row.summary),
        keywords=_keywords(row, keys),
    )
    SqlMemoryStore(cast(Tx, recorder), keys).save(item)
    return recorder.terms


def _keywords(row: MemoryRow, keys: OwnerKeys) -> tuple[str, ...]:
    return tuple(json.loads(_open(keys, "keywords", UUID(bytes=bytes(row.id)), row.keywords)))


def _open(keys: OwnerKeys, column: str, identity: UUID, sealed: bytes) -> str:
    return keys.open(SealedPlace("turn_memories", column, str(identity)), bytes(sealed)).decode()


def _name(row: MemoryRow) -> str:
    return f"{UUID(bytes=bytes(row.id))} of {row.owner}"
