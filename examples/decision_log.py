"""Decision memory for an agent: save decisions, check the impact of a change, load what applies.

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
    """Save three decisions that depend on each other. Each is durable when `save` returns."""
    lots = await log.save(in_wms("재고는 로트 단위로 센다", "axis"))
    labels = await log.save(in_wms("Every label names its lot", "lock"))
    scanner = await log.save(in_wms("The scanner reads labels offline", "normal"))
    await log.relate(labels.root_id, "DEPENDS_ON", lots.root_id)
    await log.relate(scanner.root_id, "IMPLEMENTS", labels.root_id)
    return lots.root_id


async def change(log: Decisions, root_id: UUID) -> None:
    """Change a decision. A proposal is checked by the guardian and stored only by `save`."""
    proposal = in_wms("재고는 상자 단위로 센다", "axis", root_id=root_id)
    proposed = await log.propose(proposal)
    reached = await log.active([node.root_id for node in proposed.report.impact.nodes])
    print("A change would affect:", *(f"\n  {each.strength}  {each.statement}" for each in reached))

    # Raises Conflict if someone else has changed the decision since then.
    seen = proposed.replaces.version if proposed.replaces else None
    saved = await log.save(proposal, expected_version=seen)
    print(f"Saved as version {saved.version}; the history:")
    for version in await log.history(root_id):
        print(f"  v{version.version}  {'active' if version.is_active else 'past  '}  {version.statement}")


async def main() -> None:
    async with await Gieok.open() as gieok:
        log = gieok.user("team").decisions
        await change(log, await decide(log))

        # Context for an agent: seven layers, always in this order; a budget cuts from the end.
        print("What applies in wms:")
        for layer in (await log.context("wms", phase="implement", budget=2000)).layers:
            said = [item.statement for item in layer.items if item.kind == "decision"]
            print(f"  {layer.tier} {layer.name}", *said, sep="  ")


if __name__ == "__main__":
    asyncio.run(main())
