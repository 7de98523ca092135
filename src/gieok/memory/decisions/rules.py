"""Pure rules of decisions: search terms, limits, cursors, and parsing a proposal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from gieok.engine.plan import first_problem, place
from gieok.errors import InputRefused
from gieok.memory.decisions.records import Decision, DecisionPosition, DecisionProposal
from gieok.text import terms

MAX_QUERY_CHARS = 4_000
MAX_LIST = 1_000
MAX_VERSION = 2**31 - 1


def statement_terms(text: str) -> frozenset[str]:
    """The search terms of a statement or a query."""
    return frozenset(terms(text))


def check_query(query: str) -> None:
    """InputRefused for a query that is too long."""
    if len(query) > MAX_QUERY_CHARS:
        raise InputRefused(f"may have at most {MAX_QUERY_CHARS} characters", at="q")


def check_limit(limit: int) -> None:
    """InputRefused for a page size out of range."""
    if not 1 <= limit <= MAX_LIST:
        raise InputRefused(f"must be between 1 and {MAX_LIST}", at="limit")


def check_version(version: int) -> None:
    """InputRefused for a version number out of range."""
    if not 0 <= version <= MAX_VERSION:
        raise InputRefused(f"must be between 0 and {MAX_VERSION}", at="after")


def position_of(decision: Decision) -> DecisionPosition:
    """The position of a list after this decision."""
    return DecisionPosition(
        strength=decision.strength, created_at=decision.created_at, root_id=decision.root_id
    )


def read_proposal(document: Mapping[str, Any]) -> DecisionProposal:
    """A proposal from a JSON document. InputRefused names the place that is wrong."""
    try:
        return DecisionProposal.model_validate_json(json.dumps(document))
    except ValidationError as error:
        location, message = first_problem(error)
        raise InputRefused(message, at=place(location) if location else "proposal") from None
