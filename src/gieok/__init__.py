"""Gieok (기억): long-term memory for AI characters and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gieok.app import Gieok, TurnResult, User
    from gieok.engine import ExecutionPlan, StepEvent
    from gieok.memory.conversation.records import Message, Persona, StateFact
    from gieok.memory.turns.records import RecalledMemory
    from gieok.settings import Settings, load_settings

__version__ = "0.1.0"

_HOMES = {
    "ExecutionPlan": "gieok.engine",
    "Gieok": "gieok.app",
    "Message": "gieok.memory.conversation.records",
    "Persona": "gieok.memory.conversation.records",
    "RecalledMemory": "gieok.memory.turns.records",
    "Settings": "gieok.settings",
    "StateFact": "gieok.memory.conversation.records",
    "StepEvent": "gieok.engine",
    "TurnResult": "gieok.app",
    "User": "gieok.app",
    "load_settings": "gieok.settings",
}
"""Where each public name lives. They load when they are first used, so that `import gieok` costs nothing."""

__all__ = [
    "ExecutionPlan",
    "Gieok",
    "Message",
    "Persona",
    "RecalledMemory",
    "Settings",
    "StateFact",
    "StepEvent",
    "TurnResult",
    "User",
    "__version__",
    "load_settings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gieok' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415  nothing is imported until it is needed

    return getattr(import_module(_HOMES[name]), name)
