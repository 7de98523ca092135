"""The nodes of a graph that remembers decisions."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from gieok.app import User
from gieok.app.decisions import COMPACT_PLAN, LOAD_PLAN
from gieok.engine import ExecutionPlan
from gieok.errors import InputRefused
from gieok.interfaces.langgraph.exchanges import exchanges
from gieok.interfaces.langgraph.proposals import read_proposal, request_of
from gieok.interfaces.langgraph.state import DecisionState
from gieok.interfaces.langgraph.tools import reading_tools, saving_tool
from gieok.memory.decisions.blocks import render_decisions, render_report, render_signposts
from gieok.memory.decisions.rules import MAX_QUERY_CHARS
from gieok.memory.fields import Language

Update = dict[str, Any]


class Node(Protocol):
    """A node for `StateGraph.add_node`. It is async: run the graph with `ainvoke` or `astream`."""

    def __call__(self, state: DecisionState) -> Awaitable[Update]: ...


class RunNode(Protocol):
    """A node that also knows which run it is in."""

    def __call__(self, state: DecisionState, *, runtime: Runtime[Any]) -> Awaitable[Update]: ...


class DecisionMemory:
    """One owner's decisions for a graph.

    The owner is fixed when the nodes are made: nothing in a state, a message or a config can name another.
    """

    def __init__(self, user: User, *, language: Language = "en") -> None:
        self._decisions = user.decisions
        self._language: Language = language

    def load(
        self,
        *,
        domain: str | None = None,
        phase: str | None = None,
        budget: int | None = None,
        by_words: bool = False,
        plan: str | ExecutionPlan = LOAD_PLAN,
    ) -> Node:
        """A node that puts what applies into `decisions`: always seven layers, always in the loading order.

        Domain and phase are those given here, or else those of the state. `by_words` adds, last of all,
        decisions that share words with what the user said last. `budget` is in tokens.
        """

        async def load_decisions(state: DecisionState) -> Update:
            name = domain or state.get("domain")
            if not name:
                raise InputRefused("give load() a domain, or put one into the state", at="domain")
            context = await self._decisions.context(
                name,
                phase=phase or state.get("phase") or None,
                q=_asked(state["messages"]) if by_words else None,
                budget=budget,
                plan=plan,
            )
            return {"decisions": render_decisions(context, self._language)}

        return load_decisions

    def compact(self, *, session_ref: str | None = None, plan: str | ExecutionPlan = COMPACT_PLAN) -> RunNode:
        """A node that has the oldest messages give way to signposts, so that `prompt` fits the plan's budget.

        Their original words become evidence under the session: the one given here, or else the thread of the
        run. `messages` itself stays whole. What gave way before is recognised and costs no model call.
        """

        async def compact_messages(state: DecisionState, *, runtime: Runtime[Any]) -> Update:
            parts = exchanges(state["messages"])
            if not parts:
                return {"signposts": "", "gave_way": 0}
            session = session_ref or _thread(runtime)
            compacted = await self._decisions.compact(session, [part.said for part in parts], plan=plan)
            gone = parts[: len(parts) - len(compacted.messages)]
            return {
                "signposts": render_signposts(compacted.anchors, compacted.left_out, self._language),
                "gave_way": sum(len(part.messages) for part in gone),
            }

        return compact_messages

    def propose(self) -> Node:
        """A node that has the guardian look at `proposal` and puts the `report` into the state.

        Gieok stores nothing, and the report stops nothing: what follows is for the graph's edges to say.
        """

        async def propose_decision(state: DecisionState) -> Update:
            result = await self._decisions.propose(read_proposal(state.get("proposal")))
            return {
                "report": render_report(result.report, self._language),
                "replaces_version": result.replaces.version if result.replaces else None,
            }

        return propose_decision

    def save(self) -> RunNode:
        """A node that takes the decision in `proposal`: durable when the node has run.

        Conflict where the decision has changed since the guardian's report. A node that is run again, after
        a failure or a crash, saves once.
        """

        async def save_decision(state: DecisionState, *, runtime: Runtime[Any]) -> Update:
            proposal = read_proposal(state.get("proposal"))
            saved = await self._decisions.save(
                proposal,
                expected_version=state.get("replaces_version"),
                once=request_of(runtime.execution_info, "node", proposal),
            )
            settled = {"proposal": None, "report": None, "replaces_version": None}
            return {"saved": str(saved.root_id), **settled}

        return save_decision

    def tools(self, *, may_save: bool = False) -> list[BaseTool]:
        """Tools for the agent: read evidence, propose a decision, and save one only where it `may_save`."""
        tools = reading_tools(self._decisions, self._language)
        return [*tools, saving_tool(self._decisions)] if may_save else tools


def _asked(messages: list[AnyMessage]) -> str | None:
    """What the user said last, as far as a question may go."""
    said = (str(message.text) for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(said, "")[:MAX_QUERY_CHARS] or None


def _thread(runtime: Runtime[Any]) -> str:
    thread = runtime.execution_info.thread_id if runtime.execution_info else None
    if thread is None:
        raise InputRefused("give compact() a session_ref, or run the graph with a thread_id", at="sessionRef")
    return str(thread)
