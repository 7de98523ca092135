"""What a service answers about decisions. The records of the library are used where they are the same."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from gieok.client.answers import Answered
from gieok.memory.decisions.evidence import Target
from gieok.memory.decisions.guardian import Concern
from gieok.memory.decisions.layers import Layer
from gieok.memory.decisions.records import Decision, DecisionProposal, Impact


class Guardian(Answered):
    """What a proposal would meet: it reports, and keeps nothing from being saved."""

    constrained_by: tuple[Concern, ...]
    conflicts: tuple[Concern, ...]
    lapsing: tuple[Concern, ...]
    truncated: bool


class Proposed(Answered):
    """A proposal, and what it would replace, reach and meet. Nothing of it is stored."""

    proposal: DecisionProposal
    replaces: Decision | None
    impact: Impact
    guardian: Guardian


class DecisionPage(Answered):
    """Some decisions of a list, and where it goes on: None at its end."""

    decisions: tuple[Decision, ...]
    next_cursor: str | None


class LoadedContext(Answered):
    """What applies in a domain, in the loading order: always seven layers."""

    domain: str
    phase: str | None
    layers: tuple[Layer, ...]
    tokens: int
    truncated: bool


class Anchor(Answered):
    """A hint of what was said in a session, and where its original stands."""

    id: UUID
    session_id: str
    hint: str
    targets: tuple[Target, ...]
    created_at: datetime
