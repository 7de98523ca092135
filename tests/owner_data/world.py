"""An owner with data in every store, and helpers to read an export."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from datetime import timedelta
from typing import Any

from gieok.app import User
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import Emotion, MemoryChanges, MemoryConfig, MemoryDraft
from gieok.memory.conversation.records import Persona
from gieok.memory.decisions.records import DecisionProposal, Target
from gieok.memory.observations import Category
from tests.sessions.conversation import said
from tests.turns.run_turn import run_turn

HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야. 다정한 친구처럼 말해.")
FRIEND = Persona(name="하나", language="ko", system_prompt="너는 하나야.")
KINDS = {
    "profile",
    "persona",
    "memoryConfig",
    "fact",
    "session",
    "planMove",
    "message",
    "turnMemory",
    "memory",
    "memoryVersion",
    "moment",
    "evidence",
    "policy",
    "decision",
    "relation",
    "anchor",
    "document",
    "audit",
}
Line = dict[str, Any]


async def fill(user: User) -> None:
    """A persona with facts and messages, memories with a moment, decisions with evidence and relations."""
    await user.profile.set(display_name="민수", timezone="Asia/Seoul", language="ko")
    await user.personas.create(HANA, persona_id="hana")
    await user.personas.edit("hana", HANA.model_copy(update={"card": "고양이를 좋아해."}))
    await user.companion.configure("hana", MemoryConfig(recall=True, active_limit=3))
    await _say_facts(user)
    await user.sessions.start("hana", plan="chat_turn", session_ref="talk")
    await user.sessions.save_messages("talk", said(1, 23))
    await user.sessions.start("hana", plan="chat_turn", session_ref="open")
    await user.sessions.save_messages("open", said(1, 3))
    await run_turn(user, "turns", "내일 중요한 면접이 있어", persona=FRIEND)
    await user.sessions.move("turns", "chat_turn")
    await user.sessions.move("turns", "turn_memory")
    for number in range(5):
        draft = MemoryDraft(
            persona_id="hana",
            summary=f"{number}번째 면접 이야기를 나눔.",
            topics=("면접", str(number)),
            emotion=Emotion.JOY,
            importance=5 + number,
        )
        await user.companion.create(draft, account_plan="free")
    newest = (await user.companion.list("hana")).memories[0]
    await user.companion.edit(newest.id, MemoryChanges(tags=("중요",)))
    await _decide(user)
    await user.documents.put(("notes", "민수"), "면접", {"text": "면접은 내일"})
    await user.documents.put(("notes", "민수"), "면접", {"text": "면접은 모레"}, ttl=timedelta(days=3650))


async def _say_facts(user: User) -> None:
    await user.canon.set_fact("hana", Category.GOAL, "취업", "개발자가 되고 싶어 함")
    await user.canon.set_fact("hana", Category.GOAL, "취업", "면접을 앞두고 있음")
    moved = await user.canon.set_fact("hana", Category.PERSONAL_INFO, "사는 곳", "부산")
    assert moved.fact is not None
    await user.canon.retire_fact("hana", moved.fact.root_id)
    await user.canon.set_fact("hana", Category.PERSONAL_INFO, "사는 곳", "부산")
    await user.canon.set_fact("hana", Category.HABIT, "운동", "매일 달림")
    gone = await user.canon.set_fact("hana", Category.HABIT, "커피", "하루 세 잔")
    assert gone.fact is not None
    await user.canon.retire_fact("hana", gone.fact.root_id)


async def _decide(user: User) -> None:
    await user.decisions.set_policy(["모르면 모른다고 말한다"])
    await user.decisions.set_policy(["모르면 모른다고 말한다", "Write it down"])
    card = await user.decisions.keep_evidence("회의록", "창고는 하나로 한다.", "2026-01 회의")
    base = DecisionProposal(
        statement="창고 관리는 한 곳에서 한다",
        strength="axis",
        scope="domain",
        domain="wms",
        evidence_ids=(card.id,),
    )
    first = await user.decisions.save(base)
    await user.decisions.save(base.model_copy(update={"root_id": first.root_id, "rationale": "비용이 준다"}))
    other = await user.decisions.save(
        DecisionProposal(statement="검수는 자동", strength="lock", scope="global")
    )
    await user.decisions.relate(other.root_id, "DEPENDS_ON", first.root_id)
    targets = [Target(kind="evidence", id=card.id), Target(kind="decision", id=first.root_id)]
    await user.decisions.add_anchor("talk", "창고 이야기", targets)


async def export(user: User) -> bytes:
    """The complete export."""
    return b"".join([piece async for piece in user.data.export()])


def lines(stream: bytes) -> list[Line]:
    return [json.loads(line) for line in stream.splitlines()]


def records(stream: bytes) -> list[Line]:
    """The records, without the header, the end and the audit entries of exports and imports."""
    acts = ("owner.exported", "owner.imported")
    return [line for line in lines(stream)[1:-1] if line.get("action") not in acts]


def stream_of(documents: Iterable[Line], **header: Any) -> bytes:
    """A complete export of these records."""
    made = list(documents)
    first = {"kind": "gieok", "format": 1, "exportedAt": "2026-01-05T09:00:00Z"} | header
    all_lines = [first, *made, {"kind": "end", "records": len(made)}]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in all_lines).encode()


async def pieces(stream: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    """The stream in small chunks, as a network delivers it."""
    for start in range(0, len(stream), size):
        yield stream[start : start + size]


async def all_of(stream: AsyncIterable[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])
