"""The nodes of a graph with decision memory, their state, and the prompt that an agent makes of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.tools import BaseTool
from langgraph.channels import UntrackedValue  # pyright: ignore[reportMissingTypeStubs]  its types are inline
from langgraph.graph import MessagesState  # pyright: ignore[reportMissingTypeStubs]  its types are inline
from langgraph.runtime import Runtime

from gieok.app import User
from gieok.app.cycles import validated
from gieok.app.decisions import COMPACT_PLAN, LOAD_PLAN
from gieok.engine import ExecutionPlan
from gieok.errors import InputRefused
from gieok.interfaces.langgraph.tools import parse_proposal, reading_tools, request_key, saving_tool
from gieok.memory.decisions.compaction import ConversationMessage
from gieok.memory.decisions.loading.blocks import render_decisions, render_report, render_signposts
from gieok.memory.decisions.rules import MAX_QUERY_CHARS
from gieok.memory.fields import Language

Update = dict[str, Any]


class DecisionState(MessagesState, total=False):
    """What the nodes read and write. Extend it with whatever else the graph needs.

    `messages` is the whole conversation and only grows: compaction removes nothing from it.
    """

    domain: str
    """Which decisions apply."""
    phase: str | None
    """The phase of the workflow (design, implement, …), for the graph's edges. It filters no decisions."""
    decisions: str
    """The loaded decisions, as a block of the prompt."""
    signposts: str
    """The older part of the conversation, as a block of the prompt; empty while all of it fits."""
    compacted_count: int
    """How many of the oldest messages the signposts replace."""
    proposal: Annotated[dict[str, Any] | None, UntrackedValue]
    """A decision that may be taken, in the form of a DecisionProposal. Only saving stores it.

    No checkpointer stores it either, so a run that is resumed needs it again: see docs/howto/langgraph.md.
    """
    replaces_version: int | None
    """The version that the proposal would replace, at the time of the guardian's report."""
    report: str | None
    """The guardian's report on the proposal."""
    saved: str | None
    """The root id of the decision that was saved last."""


def prompt(state: DecisionState, instructions: str = "") -> list[AnyMessage]:
    """The messages for the model: one system message, then the messages that were not compacted.

    The system message has your instructions, the decisions in the loading order, then the signposts.
    """
    blocks = (instructions, state.get("decisions", ""), state.get("signposts", ""))
    system = "\n\n".join(block for block in blocks if block)
    recent = state["messages"][state.get("compacted_count", 0) :]
    return [SystemMessage(system), *recent] if system else recent


class Node(Protocol):
    """A node for `StateGraph.add_node`. It is async: run the graph with `ainvoke` or `astream`."""

    def __call__(self, state: DecisionState) -> Awaitable[Update]: ...


class RuntimeNode(Protocol):
    """A node that also gets the runtime of the run."""

    def __call__(self, state: DecisionState, *, runtime: Runtime[Any]) -> Awaitable[Update]: ...


class DecisionMemory:
    """One owner's decisions for a graph.

    The owner is fixed here: nothing in a state, a message or a config can choose another one.
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
        """A node that loads the decisions that apply into `decisions`: seven layers, in the loading order.

        Domain and phase default to those of the state. `by_words` also loads, at the end, decisions that
        share words with the user's last message. `budget` is in tokens.
        """

        async def load_decisions(state: DecisionState) -> Update:
            name = domain or state.get("domain")
            if not name:
                raise InputRefused("give load() a domain, or put one into the state", at="domain")
            context = await self._decisions.context(
                name,
                phase=phase or state.get("phase") or None,
                q=_last_user_message(state["messages"]) if by_words else None,
                budget=budget,
                plan=plan,
            )
            return {"decisions": render_decisions(context, self._language)}

        return load_decisions

    def compact(
        self, *, session_ref: str | None = None, plan: str | ExecutionPlan = COMPACT_PLAN
    ) -> RuntimeNode:
        """A node that replaces the oldest messages by signposts, so that `prompt` fits the plan's budget.

        The original text is stored as evidence of the session, by default the thread of the run. `messages`
        does not change. Messages that were compacted before cost no further model call.
        """

        async def compact_messages(state: DecisionState, *, runtime: Runtime[Any]) -> Update:
            exchanges = _exchanges(state["messages"])
            if not exchanges:
                return {"signposts": "", "compacted_count": 0}
            session = session_ref or _thread_id(runtime)
            compacted = await self._decisions.compact(
                session, [exchange.said for exchange in exchanges], plan=plan
            )
            replaced = exchanges[: len(exchanges) - len(compacted.messages)]
            return {
                "signposts": render_signposts(compacted.anchors, compacted.left_out, self._language),
                "compacted_count": sum(len(exchange.messages) for exchange in replaced),
            }

        return compact_messages

    def propose(self) -> Node:
        """A node that puts the guardian's `report` on `proposal` into the state.

        Nothing is stored, and the report blocks nothing: the graph's edges decide what follows.
        """

        async def propose_decision(state: DecisionState) -> Update:
            result = await self._decisions.propose(parse_proposal(state.get("proposal")))
            return {
                "report": render_report(result.report, self._language),
                "replaces_version": result.replaces.version if result.replaces else None,
            }

        return propose_decision

    def save(self) -> RuntimeNode:
        """A node that saves the decision in `proposal`. It is durable when the node has run.

        Conflict where the decision has changed since the guardian's report. A node that runs again after a
        failure or a crash saves once.
        """

        async def save_decision(state: DecisionState, *, runtime: Runtime[Any]) -> Update:
            proposal = parse_proposal(state.get("proposal"))
            saved = await self._decisions.save(
                proposal,
                expected_version=state.get("replaces_version"),
                once=request_key(runtime.execution_info, "node", proposal),
            )
            cleared = {"proposal": None, "report": None, "replaces_version": None}
            return {"saved": str(saved.root_id), **cleared}

        return save_decision

    def tools(self, *, may_save: bool = False) -> list[BaseTool]:
        """Tools for the agent: read evidence, propose a decision, and with `may_save` also save one."""
        tools = reading_tools(self._decisions, self._language)
        return [*tools, saving_tool(self._decisions)] if may_save else tools


def _last_user_message(messages: Sequence[AnyMessage]) -> str | None:
    """The user's last message, cut to the length of a query."""
    texts = (str(message.text) for message in reversed(messages) if isinstance(message, HumanMessage))
    return next(texts, "")[:MAX_QUERY_CHARS] or None


def _thread_id(runtime: Runtime[Any]) -> str:
    thread = runtime.execution_info.thread_id if runtime.execution_info else None
    if thread is None:
        raise InputRefused("give compact() a session_ref, or run the graph with a thread_id", at="sessionRef")
    return str(thread)


@dataclass(frozen=True)
class _Exchange:
    """Messages that are compacted together. A tool call and its results are one exchange, because a model
    refuses a result without its call.
    """

    messages: tuple[AnyMessage, ...]

    @property
    def said(self) -> ConversationMessage:
        """The text, as evidence stores it. InputRefused where it is too long or cannot be stored."""
        first, *results = self.messages
        parts = [_text(first), *(f"{result.name or 'tool'}: {_text(result)}" for result in results)]
        return validated(
            ConversationMessage, role=_role(first), content="\n".join(part for part in parts if part)
        )


def _exchanges(messages: Sequence[AnyMessage]) -> list[_Exchange]:
    """The conversation in exchanges, in order. None is empty."""
    groups: list[list[AnyMessage]] = []
    for message in messages:
        first = groups[-1][0] if groups else None
        if isinstance(message, ToolMessage) and isinstance(first, AIMessage) and first.tool_calls:
            groups[-1].append(message)
        else:
            groups.append([message])
    return [_Exchange(tuple(group)) for group in groups]


def _role(message: BaseMessage) -> str:
    if isinstance(message, HumanMessage):
        return "user"
    return "assistant" if isinstance(message, AIMessage) else message.type


def _text(message: BaseMessage) -> str:
    """The text and the tool calls of a message. Images and sound are not stored."""
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    called = (f"{call['name']}({json.dumps(call['args'], ensure_ascii=False)})" for call in calls)
    return "\n".join(part for part in (str(message.text), *called) if part)
