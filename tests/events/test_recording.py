"""The commit that stores something stores its event, and nobody else pays for it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.driver.queries import Query, load_queries
from gieok.adapters.sql.scope import SqlView
from gieok.adapters.sql.stores import events
from gieok.adapters.sql.stores.events import EVENTS, SILENT
from gieok.app import User
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import MemoryChanges, MemoryDraft
from gieok.memory.events.records import Event, EventKind
from gieok.memory.observations import Category
from tests.behind import Behind
from tests.events.consumers import Listener
from tests.owner_data.world import export, fill, pieces
from tests.sessions.conversation import said

OWNER = "mina"
HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야.")
SUBJECTS = {
    *("messages", "sessions", "memories", "chain_versions", "chain_heads"),
    *("persona_heads", "fact_heads", "document_heads", "decision_relations"),
}
"""The tables of what events are about."""


@pytest.fixture
async def heard(settings: Settings) -> AsyncIterator[Gieok]:
    """Gieok with a consumer of all events, and without a worker that would deliver them."""
    async with await Gieok.open(settings, background=False) as opened:
        opened.add_consumer(Listener())
        yield opened


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all queries that a test runs."""
    names: list[str] = []
    for method in ("one", "all", "run", "run_many"):
        original = getattr(Tx, method)

        def spy(self: Tx, query: str, *args: Any, original: Any = original, **params: Any) -> Any:
            names.append(query)
            return original(self, query, *args, **params)

        monkeypatch.setattr(Tx, method, spy)
    return names


async def recorded(gieok: Gieok, owner: str = OWNER) -> list[Event]:
    return list(await gieok.scope(owner).read(lambda view: view.events.pending("listener", 10_000)))


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_every_query_that_changes_content_makes_an_event_or_is_known_to_make_none(dialect: Any) -> None:
    changing = {name for name, query in load_queries(dialect).items() if _changed(query) & SUBJECTS}
    assert changing == EVENTS.keys() | SILENT


def _changed(query: Query) -> set[str]:
    return set(re.findall(r"(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)", query.sql))


async def _persona(user: User) -> None:
    await user.personas.create(HANA, persona_id="hana")


async def _talk(user: User) -> None:
    await user.sessions.start("hana", plan="chat_turn", session_ref="talk")
    await user.sessions.save_messages("talk", said(1, 2))


async def _memory(user: User) -> Any:
    draft = MemoryDraft(persona_id="hana", summary="면접 이야기를 나눔.", topics=("면접",), importance=5)
    return (await user.companion.create(draft)).memory


async def _memory_life(user: User) -> None:
    memory = await _memory(user)
    await user.companion.edit(memory.id, MemoryChanges(tags=("중요",)))
    await user.companion.archive(memory.id)
    await user.companion.restore(memory.id)
    await user.companion.delete(memory.id)


async def _fact_life(user: User) -> None:
    change = await user.canon.set_fact("hana", Category.GOAL, "취업", "개발자")
    assert change.fact is not None
    await user.canon.retire_fact("hana", change.fact.root_id)


async def _document_life(user: User) -> None:
    await user.documents.put(("notes",), "a", {"text": "x"})
    await user.documents.delete(("notes",), "a")


WRITES: dict[str, tuple[Sequence[Callable[[User], Awaitable[object]]], Sequence[EventKind]]] = {
    "create a persona": ([_persona], ["persona.created"]),
    "edit a persona": (
        [_persona, lambda user: user.personas.edit("hana", HANA.model_copy(update={"card": "고양이"}))],
        ["persona.created", "persona.updated"],
    ),
    "messages": (
        [_persona, _talk],
        ["persona.created", "session.started", "message.stored", "message.stored"],
    ),
    "close a session": (
        [_persona, _talk, lambda user: user.sessions.close("talk")],
        ["session.closed"],
    ),
    "withdraw a turn": (
        [_persona, _talk, lambda user: user.sessions.withdraw("talk", "m1")],
        ["message.withdrawn", "message.withdrawn"],
    ),
    "delete a session": (
        [_persona, _talk, lambda user: user.sessions.delete("talk")],
        ["session.deleted"],
    ),
    "a memory": (
        [_persona, _memory_life],
        ["memory.created", "memory.updated", "memory.archived", "memory.restored", "memory.deleted"],
    ),
    "a fact": ([_persona, _fact_life], ["fact.set", "fact.retired"]),
    "delete a persona": (
        [_persona, _fact_life, _memory, lambda user: user.personas.delete("hana")],
        ["memory.deleted", "fact.deleted", "persona.deleted"],
    ),
    "documents": ([_document_life], ["document.saved", "document.deleted"]),
}


@pytest.mark.parametrize("name", WRITES)
async def test_a_write_stores_its_events(heard: Gieok, name: str) -> None:
    calls, kinds = WRITES[name]
    for call in calls:
        await call(heard.user(OWNER))
    found = await recorded(heard)
    last = [event.kind for event in found][-len(kinds) :]
    assert sorted(last) == sorted(kinds)
    assert [event.number for event in found] == list(range(1, len(found) + 1))


async def test_decisions_and_their_relations(heard: Gieok) -> None:
    user = heard.user(OWNER)
    await fill(user)
    kinds = {event.kind for event in await recorded(heard)}
    assert {"decision.saved", "decision.related", "fact.set", "memory.archived"} <= kinds


async def test_an_event_has_the_ids_of_its_subject(heard: Gieok) -> None:
    user = heard.user(OWNER)
    await _persona(user)
    await _talk(user)
    memory = await _memory(user)
    stored = [event for event in await recorded(heard) if event.kind == "message.stored"]
    assert [(event.session_ref, event.persona_id, event.seq) for event in stored] == [
        ("talk", "hana", 1),
        ("talk", "hana", 2),
    ]
    created = (await recorded(heard))[-1]
    assert (created.kind, created.subject, created.persona_id) == ("memory.created", str(memory.id), "hana")
    assert created.version == memory.version


async def test_an_import_records_what_it_adds(heard: Gieok) -> None:
    """Heavy work runs on a copy on SQLite, and its events are among the changes of the copy."""
    await fill(heard.user("minsu"))
    content = await export(heard.user("minsu"))
    await heard.user(OWNER).data.import_(pieces(content))
    found = await recorded(heard)
    assert [event.number for event in found] == list(range(1, len(found) + 1))
    kinds = [event.kind for event in found]
    originals = [event.kind for event in await recorded(heard, "minsu")]
    assert kinds.count("message.stored") == originals.count("message.stored") > 20
    assert kinds.count("memory.created") == originals.count("memory.created")


async def test_nothing_is_recorded_of_work_that_is_rolled_back(heard: Gieok) -> None:
    await _persona(heard.user(OWNER))
    before = await recorded(heard)

    def fail(view: SqlView) -> None:
        view.personas.delete("hana")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await heard.scope(OWNER).write(fail)
    assert await recorded(heard) == before


async def test_without_a_consumer_nothing_is_recorded_and_no_statement_is_added(
    gieok: Gieok, behind: Behind, ran: list[str]
) -> None:
    """The queries of a write are the same as before there was an outbox."""
    await fill(gieok.user(OWNER))
    assert not [query for query in ran if "event" in query or "consumer" in query or "letter" in query]
    assert behind.count("events") == behind.count("event_heads") == behind.count("event_consumers") == 0


async def test_a_consumer_costs_three_statements_for_each_write(heard: Gieok, ran: list[str]) -> None:
    await _persona(heard.user(OWNER))
    await heard.scope(OWNER).write(lambda view: view.personas.delete("hana"))
    assert ran[-3:] == ["take_event_numbers", "add_events", "requeue_job"]


def test_every_kind_is_made_by_a_rule() -> None:
    """By its name in the source, because rules are functions."""
    source = Path(events.__file__).read_text("utf-8")
    assert [kind for kind in get_args(EventKind) if f'"{kind}"' not in source] == []


async def test_events_hold_no_content(heard: Gieok, behind: Behind) -> None:
    await fill(heard.user(OWNER))
    rows = str(behind.run("SELECT kind, subject, session_ref, persona_id FROM events"))
    for word in ("면접", "민수", "개발자", "하나", "부산"):
        assert word not in rows


async def test_the_event_is_written_by_the_transaction_that_writes_its_subject(
    heard: Gieok, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails to be recorded is not stored, and nothing is recorded by another transaction."""
    await _persona(heard.user(OWNER))

    def fail(*_: object) -> None:
        raise RuntimeError("no event")

    monkeypatch.setattr(events.SqlEventStore, "record", fail)
    with pytest.raises(RuntimeError):
        await heard.scope(OWNER).write(lambda view: view.personas.delete("hana"))
    assert [each.name for each in await heard.user(OWNER).personas.list()] == [HANA.name]
