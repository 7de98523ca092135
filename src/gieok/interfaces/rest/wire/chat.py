"""One message to a persona, and what came of it."""

from __future__ import annotations

from pydantic import Field

from gieok import wire
from gieok.app import ChatTurn
from gieok.interfaces.rest.wire.base import Answer, Asked, example
from gieok.interfaces.rest.wire.fields import Ref
from gieok.interfaces.rest.wire.memory import MemoryView, memory_view, told
from gieok.interfaces.rest.wire.messages import Content, MessageIn, Window
from gieok.interfaces.rest.wire.personas import fact_view
from gieok.interfaces.rest.wire.plans import PlanIn
from gieok.memory.canon.records import FactChange
from gieok.memory.companion.records import MemoryHit


class ChatContext(Asked):
    """What a client that keeps its own window sends along."""

    recent_messages: Window = Field(default_factory=list[MessageIn])


class SendMessage(Asked):
    """Without `sessionId` a new session begins. `plan` is needed where a session runs a plan of its own."""

    model_config = example(
        personaId="persona_123",
        message="오늘 날씨 어때?",
        context={
            "recentMessages": [
                {"role": "user", "content": "요즘 스트레스 받아"},
                {"role": "assistant", "content": "무슨 일 있어? 들어줄게"},
            ]
        },
    )

    persona_id: Ref
    message: Content
    session_id: Ref | None = None
    context: ChatContext | None = None
    plan: PlanIn | None = None
    stream: bool = False


class ChatAnswer(wire.ChatTurn[MemoryView], Answer):
    """The reply, what it was based on, what it changed, and what the user is to be told."""

    model_config = example(
        success=True,
        sessionId="session_456",
        reply="어제 면접 어땠어?! 정말 궁금하다!",
        recalled=[],
        state=[{"category": "GOAL", "key": "취업", "value": "IT 스타트업 입사를 준비 중"}],
        changes=[],
        summaryJobs=[],
        notices=[],
        planHash="4b1d3c7e9a0f5d2b8c6e4f1a3d5b7c9e0f2a4c6e8b0d1f3a5c7e9b1d3f5a7c9e",
        usage={"inputTokens": 214, "outputTokens": 12},
    )


def chat_answer(turn: ChatTurn, *, korean: bool) -> ChatAnswer:
    return ChatAnswer(
        session_id=turn.session_ref,
        reply=turn.reply,
        recalled=tuple(_recalled(hit) for hit in turn.recalled),
        state=tuple(
            wire.StateLine(category=fact.category, key=fact.key, value=fact.value) for fact in turn.state
        ),
        changes=tuple(_change(change) for change in turn.changes),
        memory=memory_view(turn.memory, korean=korean) if turn.memory else None,
        summary_jobs=turn.summary_jobs,
        notices=told(turn.notices, korean=korean),
        plan_hash=turn.plan_hash,
        usage=wire.Usage(input_tokens=turn.usage.input_tokens, output_tokens=turn.usage.output_tokens),
    )


def _recalled(hit: MemoryHit) -> wire.Recalled:
    memory = hit.memory
    return wire.Recalled(
        id=memory.id, summary=memory.summary, timestamp=memory.timestamp, score=hit.score, why=hit.why
    )


def _change(change: FactChange) -> wire.FactChange:
    return wire.FactChange(outcome=change.outcome, fact=fact_view(change.fact) if change.fact else None)
