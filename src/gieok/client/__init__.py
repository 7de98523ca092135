"""A typed async client of the HTTP service, for programs that do not open the database themselves."""

from gieok.client.client import GieokClient
from gieok.client.conversation import Token
from gieok.client.errors import AnswerUnknown, ServiceUnreachable
from gieok.client.transport import Retries
from gieok.wire import ChatTurn

__all__ = ["AnswerUnknown", "ChatTurn", "GieokClient", "Retries", "ServiceUnreachable", "Token"]
