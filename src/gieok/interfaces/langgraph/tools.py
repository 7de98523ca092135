"""Tools that a model may call: it reads originals and proposes; to save is for whoever gives it that tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec
from uuid import UUID

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from typing_extensions import TypedDict

from gieok.app.decisions import Decisions
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.interfaces.langgraph.proposals import read_proposal, request_of
from gieok.memory.decisions.blocks import render_report
from gieok.memory.decisions.records import DecisionProposal, RelationType, Strength
from gieok.memory.fields import Language

P = ParamSpec("P")


class RelationTo(TypedDict):
    """A relation from the proposed decision to another one."""

    type: RelationType
    target: str
    """The id of the other decision."""


def reading_tools(decisions: Decisions, language: Language) -> list[BaseTool]:
    """`read_evidence` and `propose_decision`: neither stores anything."""

    @_told
    async def read_evidence(evidence_id: UUID) -> str:
        """Read the original words that a signpost or a decision leads to, by the evidence's id."""
        return (await decisions.evidence(evidence_id)).content

    @_told
    async def propose_decision(
        statement: str,
        strength: Strength,
        domain: str | None = None,
        rationale: str | None = None,
        root_id: UUID | None = None,
        relations: list[RelationTo] | None = None,
    ) -> str:
        """See what a decision would meet and break, before it is taken. Nothing is saved.

        strength: axis (a direction), lock (a fixed rule) or normal. domain: where it applies; leave it out
        for everywhere. root_id: the id of the decision that it would change. relations: to other decisions.
        """
        asked = _proposal(statement, strength, domain, rationale, root_id, relations)
        result = await decisions.propose(asked)
        follows = f"\nreplaces version {result.replaces.version}" if result.replaces else ""
        return render_report(result.report, language) + follows

    return [_tool(read_evidence), _tool(propose_decision)]


def saving_tool(decisions: Decisions) -> BaseTool:
    """`save_decision`, which takes a decision for good."""

    @_told
    async def save_decision(
        statement: str,
        strength: Strength,
        runtime: ToolRuntime[Any, Any],
        domain: str | None = None,
        rationale: str | None = None,
        root_id: UUID | None = None,
        relations: list[RelationTo] | None = None,
        expected_version: int | None = None,
    ) -> str:
        """Take a decision that applies from now on. Propose it first.

        The arguments are those of propose_decision. expected_version: the version that it replaces.
        """
        asked = _proposal(statement, strength, domain, rationale, root_id, relations)
        once = request_of(runtime.execution_info, runtime.tool_call_id or "", asked, expected_version)
        saved = await decisions.save(asked, expected_version=expected_version, once=once)
        return f"saved as {saved.root_id}, version {saved.version}"

    return _tool(save_decision)


def _tool(call: Callable[..., Coroutine[Any, Any, str]]) -> BaseTool:
    return StructuredTool.from_function(coroutine=call, handle_tool_error=True)


def _told(call: Callable[P, Awaitable[str]]) -> Callable[P, Coroutine[Any, Any, str]]:
    """The model is told what was refused, so that it can ask better. Any other failure ends the run."""

    @wraps(call)
    async def telling(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return await call(*args, **kwargs)
        except (InputRefused, NotFound, Conflict) as refused:
            raise ToolException(str(refused)) from refused

    return telling


def _proposal(
    statement: str,
    strength: Strength,
    domain: str | None,
    rationale: str | None,
    root_id: UUID | None,
    relations: list[RelationTo] | None,
) -> DecisionProposal:
    return read_proposal(
        {
            "statement": statement,
            "strength": strength,
            "scope": "domain" if domain else "global",
            "domain": domain or None,
            "rationale": rationale,
            "rootId": root_id,
            "relations": relations or [],
        }
    )
