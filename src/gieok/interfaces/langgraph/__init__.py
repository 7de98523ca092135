"""Decision memory for a LangGraph agent: nodes, tools and the prompt. Needs `gieok[langgraph]`."""

try:
    from gieok.interfaces.langgraph.memory import DecisionMemory
    from gieok.interfaces.langgraph.state import DecisionState, prompt
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("langchain_core", "langgraph"):
        raise
    raise ModuleNotFoundError(
        "gieok.interfaces.langgraph needs LangGraph, which is not installed: pip install 'gieok[langgraph]'",
        name=error.name,
    ) from error

__all__ = ["DecisionMemory", "DecisionState", "prompt"]
