"""A decision log for an agent: decide, look what a change would break, and load what applies.

python examples/decision_log.py
"""

from __future__ import annotations

import asyncio
from uuid import UUID

from gieok import DecisionProposal, Gieok
from gieok.app.decisions import Decisions
from gieok.memory.decisions.records import Strength


def in_wms(statement: str, strength: Strength, *, root_id: UUID | None = None) -> DecisionProposal:
    return DecisionProposal(
        statement=statement, strength=strength, scope="domain", domain="wms", root_id=root_id
    )


async def decide(log: Decisions) -> UUID:
    """Three decisions that rest on each other. Each is durable when `save` returns."""
    lots = await log.save(in_wms("재고는 로트 단위로 센다", "axis"))
    labels = await log.save(in_wms("Every label names its lot", "lock"))
    scanner = await log.save(in_wms("The scanner reads labels offline", "normal"))
    await log.relate(labels.root_id, "DEPENDS_ON", lots.root_id)
    await log.relate(scanner.root_id, "IMPLEMENTS", labels.root_id)
    return lots.root_id


async def change(log: Decisions, root_id: UUID) -> None:
    """A proposal is not a decision: the guardian looks at it, and nothing is stored until it is saved."""
    proposal = in_wms("재고는 상자 단위로 센다", "axis", root_id=root_id)
    proposed = await log.propose(proposal)
    reached = await log.active([node.root_id for node in proposed.report.impact.nodes])
    print("A change would reach:", *(f"\n  {each.strength}  {each.statement}" for each in reached))

    # Refused with a Conflict where someone else has changed the decision since.
    seen = proposed.replaces.version if proposed.replaces else None
    saved = await log.save(proposal, expected_version=seen)
    print(f"Saved as version {saved.version}; what it was before stays:")
    for version in await log.history(root_id):
        print(f"  v{version.version}  {'active' if version.is_active else 'past  '}  {version.statement}")


async def main() -> None:
    async with await Gieok.open() as memory:
        log = memory.user("team").decisions
        await change(log, await decide(log))

        # What an agent is told before it works: seven layers, always in this order, cut from the end.
        print("What applies in wms:")
        for layer in (await log.context("wms", phase="implement", budget=2000)).layers:
            said = [item.statement for item in layer.items if item.kind == "decision"]
            print(f"  {layer.tier} {layer.name}", *said, sep="  ")


if __name__ == "__main__":
    asyncio.run(main())
