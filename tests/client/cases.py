"""An owner with one record of each kind, and a table of every call of the client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from gieok import DecisionProposal, MemoryDraft, Message, PersonaDraft
from gieok.client import GieokClient
from gieok.errors import Conflict, Forbidden
from gieok.memory.companion.records import MemoryChanges, MemoryConfig, MemoryOutline
from gieok.memory.decisions.records import Target
from gieok.memory.documents.records import GetDocument, ListNamespaces
from gieok.memory.sessions.records import ChatMessage

PERSONA = PersonaDraft(name="하나", system_prompt="너는 하나, 사용자의 친구다.")
MESSAGE = ChatMessage(
    id="m1", role="user", content="내일 면접이 있어서 떨려", timestamp=datetime(2025, 10, 27, tzinfo=UTC)
)
CARD = b'{"spec": "chara_card_v3", "data": {"name": "Max", "description": "An old friend.", "tags": ["a"]}}'
LONG = [Message(role="user", content=f"{number}: " + "긴 이야기 " * 100) for number in range(10)]
NOTES = ("notes", "민수")
PROPOSAL = DecisionProposal(statement="재고는 이동 기록에서만 계산한다", strength="axis", scope="global")


@dataclass(frozen=True)
class SeededOwner:
    """The ids of the records that the calls use."""

    client: GieokClient
    persona: str
    session: str
    memory: UUID
    fact: UUID
    decision: UUID
    other: UUID
    evidence: UUID


async def seed(client: GieokClient) -> SeededOwner:
    """Create one record of each kind."""
    persona = (await client.personas.create(PERSONA)).id
    session = (await client.sessions.start(persona)).session_ref
    await client.sessions.save_messages(session, [MESSAGE])
    kept = await client.memory.create(MemoryDraft(persona_id=persona, summary="면접을 앞두고 있다"))
    fact = (await client.personas.set_fact(persona, "GOAL", "취업", "입사를 준비 중")).fact
    first, second = await client.decisions.save(PROPOSAL), await client.decisions.save(PROPOSAL)
    evidence = await client.decisions.keep_evidence("회의록", "재고를 두 곳에 적으면 어긋난다")
    assert fact is not None
    return SeededOwner(
        client, persona, session, kept.memory.id, fact.root_id, first.root_id, second.root_id, evidence.id
    )


@dataclass(frozen=True)
class Case:
    """One call: its route, the field of the answer that it returns (None for the whole), and the call."""

    route: str
    field: str | None
    call: Callable[[SeededOwner], Awaitable[Any]]


async def _session_with_message(owner: SeededOwner) -> str:
    session = (await owner.client.sessions.start(owner.persona)).session_ref
    await owner.client.sessions.save_messages(session, [MESSAGE])
    return session


async def _move_session(owner: SeededOwner) -> Any:
    return await owner.client.sessions.move(await _session_with_message(owner), "turn_memory")


async def _close_session(owner: SeededOwner) -> Any:
    return await owner.client.sessions.close(await _session_with_message(owner), wait=True)


async def _regenerate(owner: SeededOwner) -> Any:
    return await owner.client.chat.regenerate(await _session_with_message(owner))


async def _withdraw_last(owner: SeededOwner) -> Any:
    return await owner.client.sessions.withdraw(await _session_with_message(owner))


async def _withdraw_turn(owner: SeededOwner) -> Any:
    return await owner.client.sessions.withdraw(await _session_with_message(owner), MESSAGE.id)


async def _read_job(owner: SeededOwner) -> Any:
    closed = await owner.client.sessions.close(await _session_with_message(owner))
    assert closed.job_id is not None
    return await owner.client.jobs.get(closed.job_id)


HOOK = "https://hooks.invalid/gieok"


async def _retry_job(owner: SeededOwner) -> None:
    """A job that has not failed is refused, and that is an answer of the route too."""
    closed = await owner.client.sessions.close(await _session_with_message(owner), wait=False)
    assert closed.job_id is not None
    with pytest.raises(Conflict):
        await owner.client.jobs.retry(closed.job_id)


async def _jobs_of_all(owner: SeededOwner) -> None:
    """An owner's token is refused."""
    with pytest.raises(Forbidden):
        await owner.client.jobs.of_all(status="failed", limit=1)


async def _restore_memory(owner: SeededOwner) -> Any:
    await owner.client.memory.archive(owner.memory)
    return await owner.client.memory.restore(owner.memory)


async def _delete_document(owner: SeededOwner) -> None:
    """Afterwards there is none: a second call and a read say so."""
    assert await owner.client.documents.get(NOTES, "없음") is None
    assert not await owner.client.documents.delete(NOTES, "없음")
    assert await owner.client.documents.delete(NOTES, "면접")


async def _dead_letters(owner: SeededOwner) -> Any:
    webhook = (await owner.client.webhooks.add(HOOK)).webhook
    return await owner.client.webhooks.dead_letters(webhook.id, limit=1)


async def _retry_webhook(owner: SeededOwner) -> Any:
    webhook = (await owner.client.webhooks.add(HOOK)).webhook
    return await owner.client.webhooks.retry(webhook.id)


async def _remove_webhook(owner: SeededOwner) -> None:
    webhook = (await owner.client.webhooks.add(HOOK)).webhook
    await owner.client.webhooks.remove(webhook.id)


async def _delete_relation(owner: SeededOwner) -> Any:
    made = await owner.client.decisions.relate(owner.decision, "DEPENDS_ON", owner.other)
    return await owner.client.decisions.unrelate(owner.decision, made.id)


async def _read_history(owner: SeededOwner) -> Any:
    kept = await owner.client.memory.create(MemoryDraft(persona_id=owner.persona, summary="처음"))
    await owner.client.memory.edit(kept.memory.id, MemoryChanges(summary="고침"))
    return await owner.client.memory.history(kept.memory.id)


async def _read_context(owner: SeededOwner) -> Any:
    return await owner.client.decisions.context("wms", q="재고", roots=[owner.decision, owner.other])


async def _list_relations(owner: SeededOwner) -> Any:
    await owner.client.decisions.relate(owner.decision, "DEPENDS_ON", owner.other)
    return await owner.client.decisions.relations(owner.decision)


async def _read_impact(owner: SeededOwner) -> Any:
    await owner.client.decisions.relate(owner.other, "DEPENDS_ON", owner.decision)
    return await owner.client.decisions.impact(owner.decision, depth=3)


async def _add_anchor(owner: SeededOwner) -> Any:
    target = Target(kind="evidence", id=owner.evidence)
    return await owner.client.decisions.add_anchor(owner.session, "재고를 정한 이유", [target])


async def _list_anchors(owner: SeededOwner) -> Any:
    await _add_anchor(owner)
    return await owner.client.decisions.anchors(owner.session)


async def _export(owner: SeededOwner) -> None:
    lines = [line async for line in owner.client.me.export()]
    assert all(line.endswith(b"}\n") for line in lines)
    assert len(lines) > 5


async def _import(owner: SeededOwner) -> Any:
    return await owner.client.me.import_(owner.client.me.export())


CHAT = (
    Case(
        "POST /chat/send",
        None,
        lambda o: o.client.chat.send(o.persona, "면접 생각에 잠이 안 와", new_session=True),
    ),
    Case("POST /chat/regenerate", None, _regenerate),
    Case("POST /context", None, lambda o: o.client.context(o.persona, "면접", session_ref=o.session)),
    Case("POST /sessions", None, lambda o: o.client.sessions.start(o.persona, plan="chat_turn")),
    Case("GET /sessions/{id}", None, lambda o: o.client.sessions.get(o.session)),
    Case(
        "POST /sessions/{id}/messages", None, lambda o: o.client.sessions.save_messages(o.session, [MESSAGE])
    ),
    Case("POST /sessions/{id}/resume", "session", lambda o: o.client.sessions.resume(o.session, "chat_turn")),
    Case("POST /sessions/{id}/plan", None, _move_session),
    Case("POST /sessions/{id}/close", None, _close_session),
    Case("DELETE /sessions/{id}/turns/last", "withdrawn", _withdraw_last),
    Case("DELETE /sessions/{id}/turns/{turnId}", "withdrawn", _withdraw_turn),
    Case("GET /jobs/{id}", "job", _read_job),
    Case("GET /jobs", None, lambda o: o.client.jobs.list(limit=2)),
    Case("POST /jobs/{id}/retry", None, _retry_job),
    Case("GET /operator/jobs", None, _jobs_of_all),
)
MEMORY = (
    Case("POST /memory/summarize", None, lambda o: o.client.memory.summarize(o.session, o.persona)),
    Case(
        "POST /memory/create",
        None,
        lambda o: o.client.memory.create_of_messages(
            MemoryOutline(persona_id=o.persona, importance=9),
            [Message(role="user", content="면접에 붙었어!")],
        ),
    ),
    Case(
        "POST /memory/batch",
        None,
        lambda o: o.client.memory.create_many([MemoryDraft(persona_id=o.persona, summary="영화를 봤다")] * 2),
    ),
    Case("GET /memory/load", "memories", lambda o: o.client.memory.load(o.persona, limit=3)),
    Case("GET /memory/list", None, lambda o: o.client.memory.list(include_archived=True)),
    Case("GET /memory/search", "memories", lambda o: o.client.memory.search(o.persona, "면접", limit=5)),
    Case(
        "GET /memory/search",
        "memories",
        lambda o: o.client.memory.search(o.persona, "면접", kinds="all", limit=5),
    ),
    Case("GET /memory/{id}", "memory", lambda o: o.client.memory.get(o.memory)),
    Case(
        "PATCH /memory/{id}",
        "memory",
        lambda o: o.client.memory.edit(o.memory, MemoryChanges(importance=9), expected_version=1),
    ),
    Case("POST /memory/{id}/archive", "memory", lambda o: o.client.memory.archive(o.memory)),
    Case("POST /memory/{id}/restore", "memory", _restore_memory),
    Case("DELETE /memory/{id}", None, lambda o: o.client.memory.delete(o.memory)),
)
PERSONAS = (
    Case("POST /personas", "persona", lambda o: o.client.personas.create(PERSONA, persona_id="미나")),
    Case("POST /personas/import", None, lambda o: o.client.personas.import_file(CARD)),
    Case("GET /personas", "personas", lambda o: o.client.personas.list(limit=5)),
    Case("GET /personas/{id}", "persona", lambda o: o.client.personas.get(o.persona)),
    Case(
        "PUT /personas/{id}",
        "persona",
        lambda o: o.client.personas.edit(o.persona, PERSONA, expected_version=1),
    ),
    Case("GET /personas/{id}/versions", "versions", lambda o: o.client.personas.versions(o.persona)),
    Case("GET /personas/{id}/memory-config", None, lambda o: o.client.personas.config(o.persona)),
    Case(
        "PUT /personas/{id}/memory-config",
        None,
        lambda o: o.client.personas.configure(o.persona, MemoryConfig(recall=False, active_limit=None)),
    ),
    Case("GET /personas/{id}/state", None, lambda o: o.client.personas.state(o.persona)),
    Case(
        "PUT /personas/{id}/state",
        None,
        lambda o: o.client.personas.set_fact(o.persona, "HABIT", "운동", "매일 달린다", importance=4),
    ),
    Case(
        "GET /personas/{id}/state/{rootId}/history",
        "versions",
        lambda o: o.client.personas.fact_history(o.persona, o.fact),
    ),
    Case(
        "DELETE /personas/{id}/state/{rootId}",
        None,
        lambda o: o.client.personas.retire_fact(o.persona, o.fact),
    ),
)
MANAGEMENT = (
    Case("GET /personas/{id}/moments", None, lambda o: o.client.personas.moments(o.persona)),
    Case("GET /memory/{id}/history", "versions", _read_history),
    Case("GET /sessions", None, lambda o: o.client.sessions.list(o.persona)),
    Case("GET /sessions/{id}/messages", None, lambda o: o.client.sessions.messages(o.session)),
    Case("GET /sessions/{id}/cycles", None, lambda o: o.client.sessions.cycles(o.session)),
)
DECISIONS = (
    Case("POST /decisions/proposals", None, lambda o: o.client.decisions.propose(PROPOSAL)),
    Case("POST /decisions", "decision", lambda o: o.client.decisions.save(PROPOSAL)),
    Case("GET /decisions", None, lambda o: o.client.decisions.list(strength="axis", limit=1)),
    Case("GET /decisions/context", None, _read_context),
    Case("PUT /decisions/policy", None, lambda o: o.client.decisions.set_policy(["모르면 모른다고 말한다"])),
    Case("GET /decisions/policy", None, lambda o: o.client.decisions.policy()),
    Case("GET /decisions/policy/history", "versions", lambda o: o.client.decisions.policy_history()),
    Case("POST /decisions/compact", None, lambda o: o.client.decisions.compact(messages=LONG, budget=1_100)),
    Case("POST /decisions/walks", "jobId", lambda o: o.client.decisions.walk(root_id=o.decision, depth=2)),
    Case("GET /decisions/{rootId}", "decision", lambda o: o.client.decisions.get(o.decision)),
    Case("GET /decisions/{rootId}/history", "versions", lambda o: o.client.decisions.history(o.decision)),
    Case("GET /decisions/{rootId}/impact", None, _read_impact),
    Case(
        "POST /decisions/{rootId}/relations",
        "relation",
        lambda o: o.client.decisions.relate(o.decision, "REFINES", o.other),
    ),
    Case("GET /decisions/{rootId}/relations", "relations", _list_relations),
    Case("DELETE /decisions/{rootId}/relations/{id}", "relation", _delete_relation),
    Case(
        "POST /evidence", "evidence", lambda o: o.client.decisions.keep_evidence("메모", "다시 센다", "창고")
    ),
    Case("GET /evidence/{id}", "evidence", lambda o: o.client.decisions.evidence(o.evidence)),
    Case("POST /anchors", "anchor", _add_anchor),
    Case("GET /anchors", "anchors", _list_anchors),
)
DOCUMENTS = (
    Case(
        "PUT /documents",
        "document",
        lambda o: o.client.documents.put(NOTES, "면접", {"text": "내일"}, ttl=timedelta(days=1)),
    ),
    Case("GET /documents", "document", lambda o: o.client.documents.get(NOTES, "면접")),
    Case("POST /documents/search", "documents", lambda o: o.client.documents.search(("notes",), "내일")),
    Case(
        "GET /documents/namespaces", "namespaces", lambda o: o.client.documents.namespaces(prefix=("notes",))
    ),
    Case("GET /documents/history", "versions", lambda o: o.client.documents.history(NOTES, "면접")),
    Case(
        "POST /documents/batch",
        "results",
        lambda o: o.client.documents.batch([GetDocument(namespace=NOTES, key="면접"), ListNamespaces()]),
    ),
    Case("DELETE /documents", None, _delete_document),
)
WEBHOOKS = (
    Case("POST /webhooks", None, lambda o: o.client.webhooks.add(HOOK, events=["memory.created"])),
    Case("GET /webhooks", "webhooks", lambda o: o.client.webhooks.list()),
    Case("GET /webhooks/{id}/dead-letters", "deadLetters", _dead_letters),
    Case("POST /webhooks/{id}/retry", "retried", _retry_webhook),
    Case("DELETE /webhooks/{id}", None, _remove_webhook),
)
DELETIONS = (
    Case("DELETE /memory", "deleted", lambda o: o.client.memory.delete_all(o.persona)),
    Case("DELETE /sessions/{id}", "deleted", lambda o: o.client.sessions.delete(o.session, cascade=True)),
    Case("DELETE /personas/{id}", "deleted", lambda o: o.client.personas.delete(o.persona)),
)
ME = (
    Case("GET /me/profile", None, lambda o: o.client.me.profile()),
    Case("PUT /me/profile", None, lambda o: o.client.me.set_profile(display_name="민수", timezone="UTC")),
    Case("GET /me/export", None, _export),
    Case("POST /me/import", None, _import),
    Case("DELETE /me", None, lambda o: o.client.me.erase()),
)

CASES = (*CHAT, *MEMORY, *PERSONAS, *MANAGEMENT, *DECISIONS, *DOCUMENTS, *WEBHOOKS, *DELETIONS, *ME)
"""In an order that works: calls that delete something come last."""
