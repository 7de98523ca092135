"""A small world of decisions to load from, and how a test reads what was loaded."""

from __future__ import annotations

import json
from typing import Any

from gieok.app.decisions import Decisions
from gieok.engine import ExecutionPlan, make_plan
from gieok.memory.decisions.loading.layers import DecisionItem, EvidenceItem, LoadedContext, PolicyItem
from gieok.memory.decisions.records import Decision, DecisionProposal, Strength
from gieok.plans import read_plan


def plan_with(**metadata: Any) -> ExecutionPlan:
    """The shipped plan of loading with another policy."""
    document = json.loads(read_plan("load_decisions"))
    document["steps"][0]["metadata"].update(metadata)
    return make_plan(document)


async def save(
    decisions: Decisions, statement: str, strength: Strength, domain: str | None = None, **more: Any
) -> Decision:
    """Save a decision of a domain, or a global one."""
    scope = "domain" if domain else "global"
    return await decisions.save(
        DecisionProposal(statement=statement, strength=strength, scope=scope, domain=domain, **more)
    )


async def save_everywhere(decisions: Decisions, *domains: str) -> None:
    """One decision of every strength, the weakest first, globally and in each domain."""
    strengths: tuple[Strength, ...] = ("normal", "lock", "axis")
    for strength in strengths:
        await save(decisions, f"global {strength}", strength)
        for domain in domains:
            await save(decisions, f"{domain} {strength}", strength, domain)


def told(context: LoadedContext) -> list[list[str]]:
    """What each layer says, in order."""
    return [[_says(item) for item in layer.items] for layer in context.layers]


def _says(item: Any) -> str:
    if isinstance(item, PolicyItem | DecisionItem):
        return item.statement
    if isinstance(item, EvidenceItem):
        return item.title
    return f"{'reaches' if item.is_affected else 'rests on'} {item.statement or item.root_id}"
