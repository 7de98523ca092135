"""A typed client of the HTTP service, for programs that do not open the database themselves."""

from gieok.client.answers import ChatTurn, Token
from gieok.client.client import GieokClient
from gieok.client.failures import AnswerUnknown, ServiceUnreachable
from gieok.client.retries import Retries

__all__ = ["AnswerUnknown", "ChatTurn", "GieokClient", "Retries", "ServiceUnreachable", "Token"]
