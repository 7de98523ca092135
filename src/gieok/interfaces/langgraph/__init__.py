"""LangGraph: a long-term store, and decision memory for an agent. Needs `gieok[langgraph]`.

memory.py  `DecisionMemory` makes the nodes of a graph; `DecisionState` is their state; `prompt` its prompt
store.py   `GieokStore`, a `BaseStore` on the owner's documents
tools.py   tools that the agent's model may call
"""

try:
    from gieok.interfaces.langgraph.memory import DecisionMemory, DecisionState, prompt
    from gieok.interfaces.langgraph.store import GieokItem, GieokStore
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("langchain_core", "langgraph"):
        raise
    raise ModuleNotFoundError(
        "gieok.interfaces.langgraph needs LangGraph, which is not installed: pip install 'gieok[langgraph]'",
        name=error.name,
    ) from error

__all__ = ["DecisionMemory", "DecisionState", "GieokItem", "GieokStore", "prompt"]
