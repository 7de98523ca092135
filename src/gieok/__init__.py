"""Gieok (기억): long-term memory for AI characters and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gieok.app import ChatTurn, Gieok, User
    from gieok.app.background.worker import Worker
    from gieok.engine import ExecutionPlan, StepEvent
    from gieok.memory.canon.records import Fact, PersonaCard, PersonaDraft
    from gieok.memory.companion.hits import Hit, MemoryHit
    from gieok.memory.companion.records import Memory, MemoryDraft, Notice
    from gieok.memory.conversation.records import Message, Persona, StateFact
    from gieok.memory.decisions.records import Decision, DecisionProposal
    from gieok.memory.requests import RequestKey
    from gieok.memory.turns.records import RecalledMemory
    from gieok.settings import Settings, load_settings

__version__ = "0.1.0"

_HOMES = {
    "ChatTurn": "gieok.app",
    "Decision": "gieok.memory.decisions.records",
    "DecisionProposal": "gieok.memory.decisions.records",
    "ExecutionPlan": "gieok.engine",
    "Fact": "gieok.memory.canon.records",
    "Gieok": "gieok.app",
    "Hit": "gieok.memory.companion.hits",
    "Memory": "gieok.memory.companion.records",
    "MemoryDraft": "gieok.memory.companion.records",
    "MemoryHit": "gieok.memory.companion.hits",
    "Message": "gieok.memory.conversation.records",
    "Notice": "gieok.memory.companion.records",
    "Persona": "gieok.memory.conversation.records",
    "PersonaCard": "gieok.memory.canon.records",
    "PersonaDraft": "gieok.memory.canon.records",
    "RecalledMemory": "gieok.memory.turns.records",
    "RequestKey": "gieok.memory.requests",
    "Settings": "gieok.settings",
    "StateFact": "gieok.memory.conversation.records",
    "StepEvent": "gieok.engine",
    "User": "gieok.app",
    "Worker": "gieok.app.background.worker",
    "load_settings": "gieok.settings",
}
"""Where each public name lives. They load when they are first used, so that `import gieok` costs nothing."""

__all__ = [
    "ChatTurn",
    "Decision",
    "DecisionProposal",
    "ExecutionPlan",
    "Fact",
    "Gieok",
    "Hit",
    "Memory",
    "MemoryDraft",
    "MemoryHit",
    "Message",
    "Notice",
    "Persona",
    "PersonaCard",
    "PersonaDraft",
    "RecalledMemory",
    "RequestKey",
    "Settings",
    "StateFact",
    "StepEvent",
    "User",
    "Worker",
    "__version__",
    "load_settings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gieok' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415  nothing is imported until it is needed

    return getattr(import_module(_HOMES[name]), name)
