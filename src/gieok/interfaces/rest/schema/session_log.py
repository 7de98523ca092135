"""Answers of the routes that list sessions, read their log and delete them."""

from __future__ import annotations

from typing import Any

from gieok import wire
from gieok.interfaces.rest.schema.common import Answer, example
from gieok.memory.cycle_records import CyclePage
from gieok.memory.sessions.records import LogPage, SessionPage, Withdrawal

_SESSION: dict[str, Any] = {
    "sessionId": "session_456",
    "personaId": "persona_123",
    "startedAt": "2025-10-27T12:00:00Z",
    "lastActivityAt": "2025-10-27T12:05:00Z",
    "endedAt": None,
    "messageCount": 2,
    "lastExecutionPlanHash": "0" * 64,
}


class SessionsAnswer(SessionPage, Answer):
    """`nextCursor` is for the next page; null on the last one."""

    model_config = example(success=True, sessions=[_SESSION], nextCursor=None)


class LogAnswer(LogPage, Answer):
    """Messages word for word; a withdrawn one has `withdrawnAt`.

    `nextCursor` is for the next page; null on the last one.
    """

    model_config = example(
        success=True,
        messages=[
            {"id": "m1", "role": "user", "content": "요즘 스트레스 받아", "timestamp": "2025-10-27T12:00:00Z"}
        ],
        nextCursor=None,
    )


class CyclesAnswer(CyclePage, Answer):
    """Records of cycles. `turnId` or `jobId` says what ran; times of steps are in milliseconds.

    `nextCursor` is for the next page; null on the last one.
    """

    model_config = example(
        success=True,
        cycles=[
            {
                "cycleId": "0b5c6a52-8f5c-4f5e-9f0e-3f0d8f7f4a11",
                "planName": "chat_turn",
                "planHash": "0" * 64,
                "startedAt": "2025-10-27T12:00:00Z",
                "durationMs": 8.2,
                "commitMs": 2.6,
                "outcome": "succeeded",
                "failedStep": None,
                "steps": [
                    {
                        "id": "recall",
                        "type": "RecallMemories",
                        "stage": "ContextSelect",
                        "startedMs": 0.9,
                        "durationMs": 1.4,
                        "notes": {"recalled": ["b6f6f1c0-0c58-4f0e-8a53-6d9d6f9b2c3d"], "filled": 0},
                    }
                ],
                "sessionId": "session_456",
                "turnId": "m1",
                "jobId": None,
            }
        ],
        nextCursor=None,
    )


class DeletedSessionAnswer(Answer):
    model_config = example(
        success=True, deleted={"messages": 12, "turnMemories": 6, "memories": 0, "facts": 0}
    )

    deleted: wire.DeletedSession


class WithdrawnAnswer(Answer):
    """Counts. `facts` are facts that were changed back, `memories` turn memories and memories that went."""

    model_config = example(success=True, withdrawn={"messages": 2, "facts": 1, "memories": 1})

    withdrawn: Withdrawal
