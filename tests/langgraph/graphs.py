"""Graphs as a program would build them. The agent is a plain function, so no model is needed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import (  # pyright: ignore[reportMissingTypeStubs]  its types are inline
    CompiledStateGraph,
    StateGraph,
)
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from gieok import ExecutionPlan
from gieok.engine import make_plan
from gieok.interfaces.langgraph import DecisionMemory, DecisionState, prompt
from gieok.plans import read_plan

Graph = CompiledStateGraph[DecisionState, None, DecisionState, DecisionState]
Agent = Callable[[list[AnyMessage]], dict[str, Any]]
THREAD: RunnableConfig = {"configurable": {"thread_id": "thread-1"}}


def agent_graph(memory: DecisionMemory, agent: Agent, plan: str | ExecutionPlan | None = None) -> Graph:
    """Load, compact, run the agent, and save its decision."""

    def call_agent(state: DecisionState) -> dict[str, Any]:
        return agent(prompt(state, "You help with the warehouse."))

    def next_node(state: DecisionState) -> str:
        return "propose" if state.get("proposal") else "__end__"

    graph = new_graph()
    add(graph, load=memory.load(), agent=call_agent, propose=memory.propose(), save=memory.save())
    add(graph, compact=memory.compact(plan=plan) if plan else memory.compact())
    graph.set_entry_point("load")
    graph.add_edge("load", "compact")
    graph.add_edge("compact", "agent")
    graph.add_conditional_edges("agent", next_node)
    graph.add_edge("propose", "save")
    return compiled(graph)


def tool_graph(memory: DecisionMemory, calls: list[dict[str, Any]], *, may_save: bool) -> Graph:
    """An agent that calls these tools once."""

    def agent(state: DecisionState) -> dict[str, Any]:
        return {"messages": [AIMessage("", tool_calls=calls)]}

    graph = new_graph()
    add(graph, agent=agent, tools=ToolNode(memory.tools(may_save=may_save)))
    graph.set_entry_point("agent")
    graph.add_edge("agent", "tools")
    return compiled(graph)


def new_graph() -> StateGraph[DecisionState]:
    return StateGraph(DecisionState)


def add(graph: StateGraph[DecisionState], **nodes: Any) -> None:
    """Add nodes by name. LangGraph checks their types when it compiles the graph."""
    for name, node in nodes.items():
        cast("Any", graph).add_node(name, node)


def compiled(graph: StateGraph[DecisionState], **options: Any) -> Graph:
    return cast("Any", graph).compile(**options)


async def run(
    graph: Graph, given: dict[str, Any] | Command[Any] | None, config: RunnableConfig = THREAD, **options: Any
) -> dict[str, Any]:
    return await cast("Any", graph).ainvoke(given, config, **options)


def small_budget() -> ExecutionPlan:
    """The shipped compaction plan with a budget for a short conversation."""
    document = json.loads(read_plan("compact_conversation"))
    (compact,) = [step for step in document["steps"] if step["type"] == "CompactConversation"]
    compact["metadata"].update(tokenBudget=300, chunkTokens=80, hintTokens=15)
    return make_plan(document)
