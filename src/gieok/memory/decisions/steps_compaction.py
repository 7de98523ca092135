"""Compaction: the older part of a long conversation becomes signposts, its original words become evidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self
from uuid import uuid4

from pydantic import Field, model_validator

from gieok.engine import Data, NoData, Stage, Step, StepContext
from gieok.errors import ModelUnavailable
from gieok.memory.decisions.compaction import (
    MAX_CHUNK_TOKENS,
    Chunk,
    Conversation,
    Said,
    Signpost,
    cut,
    fitting,
    original,
    within,
)
from gieok.memory.decisions.evidence import Anchor, EvidenceDraft, Target
from gieok.memory.decisions.store import DecisionRooms
from gieok.memory.decisions.summarizer import ConversationSummarizer
from gieok.memory.fields import SessionRef
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.reader import Reader
from gieok.memory.usage.records import ModelUsage


class CompactMetadata(ModelLimits):
    token_budget: Annotated[int, Field(ge=1, le=10_000_000)]
    chunk_tokens: Annotated[int, Field(ge=1, le=MAX_CHUNK_TOKENS)]
    hint_tokens: Annotated[int, Field(ge=1, le=1_000)]

    @model_validator(mode="after")
    def _hints_are_shorter(self) -> Self:
        if not self.hint_tokens < self.chunk_tokens < self.token_budget:
            raise ValueError(
                "hintTokens must be less than chunkTokens, and chunkTokens less than tokenBudget"
            )
        return self


class CompactInputs(Data):
    session_ref: SessionRef
    messages: Conversation


class Compacted(Data):
    signposts: tuple[Anchor | Signpost, ...]
    """One for each chunk that gave way, oldest first: an anchor where it was compacted before."""
    fitting: int
    """How many of the newest signposts fit the budget beside `messages`."""
    messages: tuple[Said, ...]
    """The newer part, as it was said."""
    usage: ModelUsage


class CompactConversation(Step[CompactMetadata, CompactInputs, Compacted]):
    """Makes the signposts, and stores nothing. What was compacted before is recognised, not asked again."""

    type = "CompactConversation"
    stages = frozenset({Stage.CONTEXT_SELECT, Stage.POST_PROCESS})

    def __init__(self, rooms: Reader[DecisionRooms], model: ConversationSummarizer) -> None:
        self._rooms = rooms
        self._model = model

    async def run(self, metadata: CompactMetadata, inputs: CompactInputs, context: StepContext) -> Compacted:
        made = cut(inputs.messages, metadata.token_budget, metadata.chunk_tokens, metadata.hint_tokens)
        originals = [chunk.evidence(inputs.session_ref) for chunk in made.chunks]
        known = await self._rooms.read(lambda rooms: _known(rooms, inputs.session_ref, originals))
        with metered_model(self._model, metadata, context) as (model, meter):
            signposts = [
                known.get(kept.sha256) or await _signpost(model, chunk, metadata.hint_tokens)
                for chunk, kept in zip(made.chunks, originals, strict=True)
            ]
        fits = fitting([one.hint for one in signposts], made.kept_tokens, metadata.token_budget)
        context.note("signposts", len(signposts))
        context.note("signpostsLeftOut", len(signposts) - fits)
        context.note("messagesKept", len(made.kept))
        return Compacted(signposts=tuple(signposts), fitting=fits, messages=made.kept, usage=meter.usage)


async def _signpost(model: ConversationSummarizer, chunk: Chunk, hint_tokens: int) -> Signpost:
    hint = within(await model.hint_conversation(chunk.messages, hint_tokens=hint_tokens), hint_tokens)
    if not hint:
        raise ModelUnavailable("the model gave no hint for a part of the conversation")
    return Signpost(hint=hint, first=chunk.first, count=len(chunk.messages))


class KeepSignpostsInputs(Data):
    session_ref: SessionRef
    messages: Conversation
    """The same conversation that the signposts were made of."""
    signposts: tuple[Anchor | Signpost, ...]

    @model_validator(mode="after")
    def _messages_are_there(self) -> Self:
        ends = (one.first + one.count - 1 for one in self.signposts if isinstance(one, Signpost))
        if max(ends, default=0) > len(self.messages):
            raise ValueError("a signpost leads to a message that the conversation does not have")
        return self

    def original(self, signpost: Signpost) -> EvidenceDraft:
        """The words that a signpost leads to."""
        start = signpost.first - 1
        return original(self.session_ref, signpost.first, self.messages[start : start + signpost.count])


class KeepSignposts(Step[NoData, KeepSignpostsInputs, NoData]):
    """Keeps the original words as evidence and sets up the anchors. The commit returns all of them."""

    type = "KeepSignposts"
    stages = frozenset({Stage.PERSIST})

    async def run(self, metadata: NoData, inputs: KeepSignpostsInputs, context: StepContext) -> NoData:
        def keep(rooms: DecisionRooms) -> tuple[Anchor, ...]:
            return tuple(
                one if isinstance(one, Anchor) else _set_up(rooms, inputs, one, context.now)
                for one in inputs.signposts
            )

        context.stage_write(keep)
        return NoData()


def _known(rooms: DecisionRooms, session_ref: str, originals: Sequence[EvidenceDraft]) -> dict[str, Anchor]:
    """The anchors of this session that lead to one of these already, by the digest of the original."""
    digests = {card.id: card.sha256 for card in rooms.evidence.find([one.sha256 for one in originals])}
    return {
        digests[target.id]: anchor
        for anchor in rooms.anchors.leading_to(session_ref, tuple(digests))
        for target in anchor.targets
        if target.id in digests
    }


def _set_up(rooms: DecisionRooms, inputs: KeepSignpostsInputs, signpost: Signpost, now: datetime) -> Anchor:
    card = rooms.evidence.save(inputs.original(signpost), evidence_id=uuid4(), created_at=now)
    known = rooms.anchors.leading_to(inputs.session_ref, (card.id,))
    if known:
        return known[0]  # another cycle compacted the same words meanwhile
    anchor = Anchor(
        id=uuid4(),
        session_ref=inputs.session_ref,
        hint=signpost.hint,
        targets=(Target(kind="evidence", id=card.id),),
        created_at=now,
    )
    rooms.anchors.save(anchor)
    return anchor
