"""The whole of Gieok put together, and the facade that interfaces and programs call."""

from gieok.app.assembly import Model, build_registry, offline_model, open_vault, root_key_source
from gieok.app.chat import ChatTurn
from gieok.app.facade import TURN_PLAN, Gieok, TurnResult, User

__all__ = [
    "TURN_PLAN",
    "ChatTurn",
    "Gieok",
    "Model",
    "TurnResult",
    "User",
    "build_registry",
    "offline_model",
    "open_vault",
    "root_key_source",
]
