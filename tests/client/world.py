"""One owner with one of each thing, and every call of the API made on it by the client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from gieok import DecisionProposal, MemoryDraft, Message, PersonaDraft
from gieok.client import GieokClient
from gieok.memory.companion.records import MemoryChanges, MemoryConfig
from gieok.memory.companion.steps_drafting import MemoryOutline
from gieok.memory.decisions.evidence import Target
from gieok.memory.sessions.records import ChatMessage

DRAFT = PersonaDraft(name="하나", system_prompt="너는 하나, 사용자의 친구다.")
SAID = ChatMessage(
    id="m1", role="user", content="내일 면접이 있어서 떨려", timestamp=datetime(2025, 10, 27, tzinfo=UTC)
)
CHOICE = DecisionProposal(statement="재고는 이동 기록에서만 계산한다", strength="axis", scope="global")


@dataclass(frozen=True)
class World:
    """What there is when a call is made."""

    client: GieokClient
    persona: str
    session: str
    memory: UUID
    fact: UUID
    decision: UUID
    other: UUID
    evidence: UUID


async def build(client: GieokClient) -> World:
    """One of each thing, made by the client itself."""
    persona = (await client.personas.create(DRAFT)).id
    session = (await client.sessions.start(persona)).session_ref
    await client.sessions.save_messages(session, [SAID])
    kept = await client.memory.create(MemoryDraft(persona_id=persona, summary="면접을 앞두고 있다"))
    fact = (await client.personas.set_fact(persona, "GOAL", "취업", "입사를 준비 중")).fact
    first, second = await client.decisions.save(CHOICE), await client.decisions.save(CHOICE)
    evidence = await client.decisions.keep_evidence("회의록", "재고를 두 곳에 적으면 어긋난다")
    assert fact is not None
    return World(
        client, persona, session, kept.memory.id, fact.root_id, first.root_id, second.root_id, evidence.id
    )


@dataclass(frozen=True)
class Case:
    """A call of the client: the route that it reaches, the part of the answer that it gives, and itself."""

    route: str
    part: str | None
    call: Callable[[World], Awaitable[Any]]


async def _talked(world: World) -> str:
    session = (await world.client.sessions.start(world.persona)).session_ref
    await world.client.sessions.save_messages(session, [SAID])
    return session


async def _moved(world: World) -> Any:
    return await world.client.sessions.move(await _talked(world), "turn_memory")


async def _closed(world: World) -> Any:
    return await world.client.sessions.close(await _talked(world), wait=True)


async def _job(world: World) -> Any:
    closed = await world.client.sessions.close(await _talked(world))
    assert closed.job_id is not None
    return await world.client.sessions.job(closed.job_id)


async def _restored(world: World) -> Any:
    await world.client.memory.archive(world.memory)
    return await world.client.memory.restore(world.memory)


async def _unrelated(world: World) -> Any:
    made = await world.client.decisions.relate(world.decision, "DEPENDS_ON", world.other)
    return await world.client.decisions.unrelate(world.decision, made.id)


async def _related(world: World) -> Any:
    await world.client.decisions.relate(world.decision, "DEPENDS_ON", world.other)
    return await world.client.decisions.relations(world.decision)


async def _reached(world: World) -> Any:
    await world.client.decisions.relate(world.other, "DEPENDS_ON", world.decision)
    return await world.client.decisions.impact(world.decision, depth=3)


async def _anchored(world: World) -> Any:
    target = Target(kind="evidence", id=world.evidence)
    return await world.client.decisions.add_anchor(world.session, "재고를 정한 이유", [target])


async def _anchors(world: World) -> Any:
    await _anchored(world)
    return await world.client.decisions.anchors(world.session)


async def _exported(world: World) -> None:
    lines = [line async for line in world.client.me.export()]
    assert all(line.endswith(b"}\n") for line in lines)
    assert len(lines) > 5


async def _imported(world: World) -> Any:
    return await world.client.me.import_(world.client.me.export())


CHAT = (
    Case("POST /chat/send", None, lambda w: w.client.chat.send(w.persona, "면접 생각에 잠이 안 와")),
    Case("POST /sessions", None, lambda w: w.client.sessions.start(w.persona, plan="chat_turn")),
    Case("GET /sessions/{id}", None, lambda w: w.client.sessions.get(w.session)),
    Case("POST /sessions/{id}/messages", None, lambda w: w.client.sessions.save_messages(w.session, [SAID])),
    Case("POST /sessions/{id}/resume", "session", lambda w: w.client.sessions.resume(w.session, "chat_turn")),
    Case("POST /sessions/{id}/plan", None, _moved),
    Case("POST /sessions/{id}/close", None, _closed),
    Case("GET /jobs/{id}", "job", _job),
)
MEMORY = (
    Case("POST /memory/summarize", None, lambda w: w.client.memory.summarize(w.session, w.persona)),
    Case(
        "POST /memory/create",
        None,
        lambda w: w.client.memory.create_of_messages(
            MemoryOutline(persona_id=w.persona, importance=9),
            [Message(role="user", content="면접에 붙었어!")],
        ),
    ),
    Case("GET /memory/load", "memories", lambda w: w.client.memory.load(w.persona, limit=3)),
    Case("GET /memory/list", None, lambda w: w.client.memory.list(include_archived=True)),
    Case("GET /memory/search", "memories", lambda w: w.client.memory.search(w.persona, "면접", limit=5)),
    Case("GET /memory/{id}", "memory", lambda w: w.client.memory.get(w.memory)),
    Case(
        "PATCH /memory/{id}",
        "memory",
        lambda w: w.client.memory.edit(w.memory, MemoryChanges(importance=9), expected_version=1),
    ),
    Case("POST /memory/{id}/archive", "memory", lambda w: w.client.memory.archive(w.memory)),
    Case("POST /memory/{id}/restore", "memory", _restored),
    Case("DELETE /memory/{id}", None, lambda w: w.client.memory.delete(w.memory)),
)
PERSONAS = (
    Case("POST /personas", "persona", lambda w: w.client.personas.create(DRAFT, persona_id="미나")),
    Case("GET /personas", "personas", lambda w: w.client.personas.list(limit=5)),
    Case("GET /personas/{id}", "persona", lambda w: w.client.personas.get(w.persona)),
    Case(
        "PUT /personas/{id}",
        "persona",
        lambda w: w.client.personas.edit(w.persona, DRAFT, expected_version=1),
    ),
    Case("GET /personas/{id}/versions", "versions", lambda w: w.client.personas.versions(w.persona)),
    Case("GET /personas/{id}/memory-config", None, lambda w: w.client.personas.config(w.persona)),
    Case(
        "PUT /personas/{id}/memory-config",
        None,
        lambda w: w.client.personas.configure(w.persona, MemoryConfig(recall=False, active_limit=None)),
    ),
    Case("GET /personas/{id}/state", None, lambda w: w.client.personas.state(w.persona)),
    Case(
        "PUT /personas/{id}/state",
        None,
        lambda w: w.client.personas.set_fact(w.persona, "HABIT", "운동", "매일 달린다", importance=4),
    ),
    Case(
        "GET /personas/{id}/state/{rootId}/history",
        "versions",
        lambda w: w.client.personas.fact_history(w.persona, w.fact),
    ),
    Case(
        "DELETE /personas/{id}/state/{rootId}",
        None,
        lambda w: w.client.personas.retire_fact(w.persona, w.fact),
    ),
)
DECISIONS = (
    Case("POST /decisions/proposals", None, lambda w: w.client.decisions.propose(CHOICE)),
    Case("POST /decisions", "decision", lambda w: w.client.decisions.save(CHOICE)),
    Case("GET /decisions", None, lambda w: w.client.decisions.list(strength="axis", limit=1)),
    Case("GET /decisions/context", None, lambda w: w.client.decisions.context("wms", q="재고")),
    Case("GET /decisions/{rootId}", "decision", lambda w: w.client.decisions.get(w.decision)),
    Case("GET /decisions/{rootId}/history", "versions", lambda w: w.client.decisions.history(w.decision)),
    Case("GET /decisions/{rootId}/impact", None, _reached),
    Case(
        "POST /decisions/{rootId}/relations",
        "relation",
        lambda w: w.client.decisions.relate(w.decision, "REFINES", w.other),
    ),
    Case("GET /decisions/{rootId}/relations", "relations", _related),
    Case("DELETE /decisions/{rootId}/relations/{id}", "relation", _unrelated),
    Case(
        "POST /evidence", "evidence", lambda w: w.client.decisions.keep_evidence("메모", "다시 센다", "창고")
    ),
    Case("GET /evidence/{id}", "evidence", lambda w: w.client.decisions.evidence(w.evidence)),
    Case("POST /anchors", "anchor", _anchored),
    Case("GET /anchors", "anchors", _anchors),
)
ME = (
    Case("GET /me/export", None, _exported),
    Case("POST /me/import", None, _imported),
    Case("DELETE /me", None, lambda w: w.client.me.erase()),
)

CASES = (*CHAT, *MEMORY, *PERSONAS, *DECISIONS, *ME)
"""In an order in which each finds what it needs: what takes something away comes last."""
