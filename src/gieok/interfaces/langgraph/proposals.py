"""A proposal as a graph carries it, and the name of the request that saves it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langgraph.runtime import ExecutionInfo
from pydantic import ValidationError

from gieok.engine.plan import first_problem, place
from gieok.errors import InputRefused
from gieok.memory.decisions.records import DecisionProposal
from gieok.memory.requests.records import RequestKey


def read_proposal(proposal: Mapping[str, Any] | None) -> DecisionProposal:
    """The proposal that a state or a model gave in plain JSON. InputRefused names what is wrong with it."""
    if not proposal:
        raise InputRefused("there is none; put it into the state before this node", at="proposal")
    try:
        return DecisionProposal.model_validate_json(json.dumps(proposal, default=str))
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(message, at=place(("proposal", *location))) from None


def request_of(
    ran: ExecutionInfo | None, name: str, proposal: DecisionProposal, version: int | None = None
) -> RequestKey | None:
    """The same for each attempt of one task of a run, so that a repeated attempt saves nothing twice."""
    if ran is None:
        return None
    body = f"{version}\n{proposal.model_dump_json()}"
    return RequestKey(key=f"langgraph:{ran.task_id}:{name}", body=body.encode())
