"""The application: all parts put together, and the facade that interfaces and programs call."""

from gieok.app.assembly import Model, build_registry, offline_model, open_vault, root_key_source
from gieok.app.chat_turn import ChatTurn
from gieok.app.facade import Gieok, User

__all__ = [
    "ChatTurn",
    "Gieok",
    "Model",
    "User",
    "build_registry",
    "offline_model",
    "open_vault",
    "root_key_source",
]
