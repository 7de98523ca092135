"""Decision memory for a LangGraph agent: nodes, tools and the prompt. Needs `gieok[langgraph]`."""

from gieok.interfaces.langgraph.memory import DecisionMemory
from gieok.interfaces.langgraph.state import DecisionState, prompt

__all__ = ["DecisionMemory", "DecisionState", "prompt"]
