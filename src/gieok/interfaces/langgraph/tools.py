"""Tools that the agent's model may call: read evidence, propose a decision, and (optional) save one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, ParamSpec
from uuid import UUID

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import ExecutionInfo
from pydantic import ValidationError
from typing_extensions import TypedDict

from gieok.app.decisions import Decisions
from gieok.engine.plan import first_problem, place
from gieok.errors import Conflict, InputRefused, NotFound
from gieok.memory.decisions.loading.blocks import render_report
from gieok.memory.decisions.records import DecisionProposal, RelationType, Strength
from gieok.memory.fields import Language
from gieok.memory.requests import RequestKey

P = ParamSpec("P")


class RelationTo(TypedDict):
    """A relation from the proposed decision to another one."""

    type: RelationType
    target: str
    """The id of the other decision."""


def reading_tools(decisions: Decisions, language: Language) -> list[BaseTool]:
    """`read_evidence` and `propose_decision`. Neither stores anything."""

    @_report_refusals
    async def read_evidence(evidence_id: UUID) -> str:
        """Read the original text that a signpost or a decision refers to, by the evidence's id."""
        return (await decisions.evidence(evidence_id)).content

    @_report_refusals
    async def propose_decision(
        statement: str,
        strength: Strength,
        domain: str | None = None,
        rationale: str | None = None,
        root_id: UUID | None = None,
        relations: list[RelationTo] | None = None,
    ) -> str:
        """See which decisions a new decision would conflict with or affect. Nothing is saved.

        strength: axis (a direction), lock (a fixed rule) or normal. domain: where it applies; leave it out
        for everywhere. root_id: the id of the decision that it would change. relations: to other decisions.
        """
        proposal = _proposal(statement, strength, domain, rationale, root_id, relations)
        result = await decisions.propose(proposal)
        replaced = f"\nreplaces version {result.replaces.version}" if result.replaces else ""
        return render_report(result.report, language) + replaced

    return [_tool(read_evidence), _tool(propose_decision)]


def saving_tool(decisions: Decisions) -> BaseTool:
    """`save_decision`, which stores a decision."""

    @_report_refusals
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
        proposal = _proposal(statement, strength, domain, rationale, root_id, relations)
        key = request_key(runtime.execution_info, runtime.tool_call_id or "", proposal, expected_version)
        saved = await decisions.save(proposal, expected_version=expected_version, once=key)
        return f"saved as {saved.root_id}, version {saved.version}"

    return _tool(save_decision)


def parse_proposal(document: Mapping[str, Any] | None) -> DecisionProposal:
    """The proposal in a state or a tool call, as plain JSON. InputRefused names what is wrong with it."""
    if not document:
        raise InputRefused("there is none; put it into the state before this node", at="proposal")
    try:
        return DecisionProposal.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(message, at=place(("proposal", *location))) from None


def request_key(
    execution: ExecutionInfo | None, name: str, proposal: DecisionProposal, version: int | None = None
) -> RequestKey | None:
    """The idempotency key of a save: the same for every attempt of one task of a run."""
    if execution is None:
        return None
    body = f"{version}\n{proposal.model_dump_json()}"
    return RequestKey(key=f"langgraph:{execution.task_id}:{name}", body=body.encode())


def _tool(call: Callable[..., Coroutine[Any, Any, str]]) -> BaseTool:
    return StructuredTool.from_function(coroutine=call, handle_tool_error=True)


def _report_refusals(call: Callable[P, Awaitable[str]]) -> Callable[P, Coroutine[Any, Any, str]]:
    """Return a refusal to the model as the tool's result, so that it can correct its call. Other errors end
    the run.
    """

    @wraps(call)
    async def reporting(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return await call(*args, **kwargs)
        except (InputRefused, NotFound, Conflict) as refused:
            raise ToolException(str(refused)) from refused

    return reporting


def _proposal(
    statement: str,
    strength: Strength,
    domain: str | None,
    rationale: str | None,
    root_id: UUID | None,
    relations: list[RelationTo] | None,
) -> DecisionProposal:
    return parse_proposal(
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
