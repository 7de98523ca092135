"""The state that the nodes share, and the prompt that an agent makes of it."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage, SystemMessage
from langgraph.graph import MessagesState  # pyright: ignore[reportMissingTypeStubs]  its types are inline


class DecisionState(MessagesState, total=False):
    """What the nodes read and write. Extend it with whatever else the graph needs.

    `messages` is the whole conversation and only grows: nothing is taken from it when it is compacted.
    """

    domain: str
    """Which decisions apply."""
    phase: str | None
    """Where the workflow stands (design, implement, …). For the graph's edges; it filters no decision."""
    decisions: str
    """The loaded decisions as a block of a prompt."""
    signposts: str
    """The older part of the conversation as a block of a prompt; empty while all of it fits."""
    gave_way: int
    """How many of the oldest messages the signposts stand for."""
    proposal: dict[str, Any] | None
    """A decision that may be taken, in the form of a DecisionProposal. It is memory only once it is saved."""
    replaces_version: int | None
    """The version that the proposal would follow, as it was when the guardian reported."""
    report: str | None
    """What the guardian said of the proposal."""
    saved: str | None
    """The root of the decision that was saved last."""


def prompt(state: DecisionState, instructions: str = "") -> list[AnyMessage]:
    """What to give the model: one system message, then the conversation as far as it stays as it was said.

    The system message has your instructions, the decisions in the loading order, then the signposts.
    """
    blocks = (instructions, state.get("decisions", ""), state.get("signposts", ""))
    system = "\n\n".join(block for block in blocks if block)
    said = state["messages"][state.get("gave_way", 0) :]
    return [SystemMessage(system), *said] if system else said
