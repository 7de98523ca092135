"""Decisions that stand on each other, and how far a change of the first one reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from gieok.interfaces.cli.demo.place import Place
from gieok.interfaces.cli.demo.story import Story
from gieok.memory.decisions.records import Decision, DecisionProposal, Impact


@dataclass(frozen=True)
class BlastRadius:
    """What a change of a decision reaches, and every decision in it."""

    impact: Impact
    decisions: Sequence[Decision]


async def decide(story: Story, place: Place) -> BlastRadius:
    """Save the story's decisions with their relations, and ask what a change of the first would reach."""
    async with await place.open(story.back.at) as gieok:
        decisions = gieok.user(story.owner).decisions
        roots: list[UUID] = []
        for each in story.decisions:
            proposal = DecisionProposal(
                statement=each.statement, strength=each.strength, scope="domain", domain=story.domain
            )
            roots.append((await decisions.save(proposal)).root_id)
        for root, each in zip(roots, story.decisions, strict=True):
            for relation_type, number in each.relations:
                await decisions.relate(root, relation_type, roots[number])
        return BlastRadius(await decisions.impact(roots[0]), await decisions.active(roots))
