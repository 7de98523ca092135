"""Compaction: the older part of a long conversation is replaced by signposts; its words are kept as evidence.

A conversation is split into chunks from its beginning. Where a chunk ends depends only on the messages before
it. So a longer version of the same conversation is split at the same places, and chunks that were compacted
before are recognised by their digest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Protocol, Self
from uuid import uuid4

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from gieok.engine import Ask, Data, NoData, ReadStep, Stage, StepContext, WriteStep
from gieok.errors import InputRefused, ModelUnavailable
from gieok.memory.decisions.records import (
    MAX_HINT_CHARS,
    Anchor,
    EvidenceCard,
    EvidenceDraft,
    Hint,
    Target,
)
from gieok.memory.decisions.store import DecisionView
from gieok.memory.fields import SessionRef, storable
from gieok.memory.model_calls import ModelLimits, metered_model
from gieok.memory.profile import Timezone, day_of
from gieok.memory.usage import ModelUsage
from gieok.text import count_tokens

MAX_MESSAGES = 100_000
MAX_CHUNK_TOKENS = 50_000
MAX_TOKEN_BUDGET = 10_000_000
MAX_MESSAGE_CHARS = 200_000


class ConversationMessage(Data, from_attributes=True):
    """One message of a conversation, word for word."""

    role: Annotated[str, StringConstraints(pattern=r"^[a-z]{1,32}$")]
    content: Annotated[str, StringConstraints(max_length=MAX_MESSAGE_CHARS), AfterValidator(storable)]

    @property
    def line(self) -> str:
        """The message as it is written into evidence."""
        return f"{self.role}: {self.content}"


Conversation = Annotated[tuple[ConversationMessage, ...], Field(min_length=1, max_length=MAX_MESSAGES)]


class Signpost(Data):
    """Stands for a chunk in the prompt: a hint, and the messages that it stands for.

    It does not contain the messages, because a long conversation may exceed the output limit of a step.
    """

    hint: Hint
    first: Annotated[int, Field(ge=1)]
    """The first message, counted from 1."""
    count: Annotated[int, Field(ge=1)]


class ConversationSummarizer(Protocol):
    """The part of a language model that writes hints."""

    async def hint_conversation(
        self, messages: Sequence[ConversationMessage], *, hint_tokens: int, today: date
    ) -> str:
        """One line about these messages in their language: about `hint_tokens` tokens, never empty.

        `today` is the user's day, for words such as "tomorrow".
        ModelUnavailable when the model gives none.
        """
        ...


@dataclass(frozen=True)
class Chunk:
    """Messages that one signpost stands for. `first` counts from 1."""

    first: int
    messages: tuple[ConversationMessage, ...]
    tokens: int

    def evidence(self, session_ref: str) -> EvidenceDraft:
        """The messages as evidence."""
        return conversation_evidence(session_ref, self.first, self.messages)


@dataclass(frozen=True)
class SplitConversation:
    """The chunks to replace, and the messages that stay."""

    chunks: tuple[Chunk, ...]
    kept: tuple[ConversationMessage, ...]
    kept_tokens: int


def conversation_evidence(
    session_ref: str, first: int, messages: Sequence[ConversationMessage]
) -> EvidenceDraft:
    """Messages of a session as evidence, word for word. `first` counts from 1."""
    return EvidenceDraft(
        title=f"{session_ref}: {first}–{first + len(messages) - 1}",
        source=f"session:{session_ref}",
        content="\n\n".join(message.line for message in messages),
    )


def split_conversation(
    messages: Sequence[ConversationMessage], token_budget: int, chunk_tokens: int, hint_tokens: int
) -> SplitConversation:
    """Replace the oldest chunks, and no more than needed to fit the budget.

    Each hint counts with its maximum size. The newest message always stays, whatever its size.
    """
    sizes = [count_tokens(message.line) for message in messages]
    kept_tokens, replaced = sum(sizes), 0
    chosen: list[Chunk] = []
    for chunk in _chunks(messages, sizes, chunk_tokens):
        if kept_tokens + len(chosen) * hint_tokens <= token_budget:
            break
        chosen.append(chunk)
        kept_tokens -= chunk.tokens
        replaced += len(chunk.messages)
    return SplitConversation(tuple(chosen), tuple(messages[replaced:]), kept_tokens)


def _chunks(messages: Sequence[ConversationMessage], sizes: Sequence[int], chunk_tokens: int) -> list[Chunk]:
    """Full chunks only: one ends where the next message would not fit. The last message is in none."""
    chunks: list[Chunk] = []
    first, tokens = 0, 0
    for number, size in enumerate(sizes):
        if number > first and tokens + size > chunk_tokens:
            chunks.append(Chunk(first + 1, tuple(messages[first:number]), tokens))
            first, tokens = number, 0
        tokens += size
    return chunks


def shorten_hint(hint: str, hint_tokens: int) -> str:
    """The hint on one line within its limits, cut between words if possible."""
    flat = " ".join(hint.split())
    if len(flat) <= MAX_HINT_CHARS and count_tokens(flat) <= hint_tokens:
        return flat
    longest = max(
        (
            end
            for end in range(1, min(len(flat), MAX_HINT_CHARS) + 1)
            if count_tokens(flat[:end]) <= hint_tokens
        ),
        default=0,
    )
    head = flat[:longest]
    whole_words = head.rsplit(" ", 1)[0] if longest < len(flat) and flat[longest] != " " else head
    return whole_words.rstrip(" ,.") or head


def count_fitting(hints: Sequence[str], kept_tokens: int, token_budget: int) -> int:
    """How many of the newest hints fit into the budget beside the kept messages."""
    room = token_budget - kept_tokens
    for number, hint in enumerate(reversed(hints)):
        room -= count_tokens(hint)
        if room < 0:
            return number
    return len(hints)


class CompactMetadata(ModelLimits):
    token_budget: Annotated[int, Field(ge=1, le=MAX_TOKEN_BUDGET)]
    """The budget of a request that asks for none."""
    max_token_budget: Annotated[int, Field(ge=1, le=MAX_TOKEN_BUDGET)]
    chunk_tokens: Annotated[int, Field(ge=1, le=MAX_CHUNK_TOKENS)]
    """Fixed by the plan, so that chunks that were compacted before are recognised."""
    hint_tokens: Annotated[int, Field(ge=1, le=1_000)]

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        if not self.hint_tokens < self.chunk_tokens < self.token_budget <= self.max_token_budget:
            raise ValueError(
                "hintTokens must be less than chunkTokens, chunkTokens less than tokenBudget, and "
                "tokenBudget at most maxTokenBudget"
            )
        return self

    def budget_for(self, requested: int | None) -> int:
        """The budget of a request. InputRefused where it is too small for a chunk, or too large."""
        if requested is None:
            return self.token_budget
        if not self.chunk_tokens < requested <= self.max_token_budget:
            raise InputRefused(
                f"must be more than {self.chunk_tokens} and at most {self.max_token_budget} tokens",
                at="budget",
            )
        return requested


class CompactInputs(Data):
    session_ref: SessionRef
    messages: Conversation
    budget: int | None = None
    timezone: Timezone = "UTC"
    """Whose days are meant."""


class Compacted(Data):
    signposts: tuple[Anchor | Signpost, ...]
    """One for each replaced chunk, oldest first: an anchor where the chunk was compacted before."""
    fitting: int
    """How many of the newest signposts fit the budget beside `messages`."""
    messages: tuple[ConversationMessage, ...]
    """The newer part, unchanged."""
    usage: ModelUsage


class SummarizerServices(Protocol):
    """What `CompactConversation` needs from the application."""

    @property
    def model(self) -> ConversationSummarizer: ...


class CompactConversation(ReadStep[CompactMetadata, CompactInputs, Compacted]):
    """Makes the signposts and stores nothing. The model is asked only for chunks that are new."""

    type = "CompactConversation"
    stages = frozenset({Stage.CONTEXT_SELECT, Stage.POST_PROCESS})
    heavy = True  # it counts the tokens of the whole conversation

    def __init__(self, services: SummarizerServices) -> None:
        self._model = services.model

    def read(
        self, view: DecisionView, metadata: CompactMetadata, inputs: CompactInputs, context: StepContext
    ) -> Ask[Compacted]:
        budget = metadata.budget_for(inputs.budget)
        split = split_conversation(inputs.messages, budget, metadata.chunk_tokens, metadata.hint_tokens)
        drafts = [chunk.evidence(inputs.session_ref) for chunk in split.chunks]
        anchors = _existing_anchors(view, inputs.session_ref, drafts)

        today = day_of(context.now, inputs.timezone)

        async def compact() -> Compacted:
            with metered_model(self._model, metadata, context) as (model, meter):
                signposts = [
                    anchors.get(draft.sha256) or await _signpost(model, chunk, metadata.hint_tokens, today)
                    for chunk, draft in zip(split.chunks, drafts, strict=True)
                ]
            hints = [signpost.hint for signpost in signposts]
            fitting = count_fitting(hints, split.kept_tokens, budget)
            context.note("signposts", len(signposts))
            context.note("signpostsLeftOut", len(signposts) - fitting)
            context.note("messagesKept", len(split.kept))
            return Compacted(
                signposts=tuple(signposts), fitting=fitting, messages=split.kept, usage=meter.usage
            )

        return Ask(compact, lambda _, compacted: compacted)


def _existing_anchors(
    view: DecisionView, session_ref: str, drafts: Sequence[EvidenceDraft]
) -> Mapping[str, Anchor]:
    """The session's anchors to this evidence, by its digest."""
    digests = {card.id: card.sha256 for card in view.evidence.find([draft.sha256 for draft in drafts])}
    return {
        digests[target.id]: anchor
        for anchor in view.anchors.leading_to(session_ref, tuple(digests))
        for target in anchor.targets
        if target.id in digests
    }


async def _signpost(model: ConversationSummarizer, chunk: Chunk, hint_tokens: int, today: date) -> Signpost:
    written = await model.hint_conversation(chunk.messages, hint_tokens=hint_tokens, today=today)
    hint = shorten_hint(written, hint_tokens)
    if not hint:
        raise ModelUnavailable("the model gave no hint for a part of the conversation")
    return Signpost(hint=hint, first=chunk.first, count=len(chunk.messages))


class KeepSignpostsInputs(Data):
    session_ref: SessionRef
    messages: Conversation
    """The conversation that the signposts were made from."""
    signposts: tuple[Anchor | Signpost, ...]

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        ends = (one.first + one.count - 1 for one in self.signposts if isinstance(one, Signpost))
        if max(ends, default=0) > len(self.messages):
            raise ValueError("a signpost leads to a message that the conversation does not have")
        return self

    def evidence(self, signpost: Signpost) -> EvidenceDraft:
        """The messages that a signpost stands for."""
        start = signpost.first - 1
        messages = self.messages[start : start + signpost.count]
        return conversation_evidence(self.session_ref, signpost.first, messages)


class KeptSignposts(Data):
    anchors: tuple[Anchor, ...]
    """One for each signpost, in order."""
    evidence: tuple[EvidenceCard, ...]
    """The messages that the anchors lead to, in the same order."""


class KeepSignposts(WriteStep[NoData, KeepSignpostsInputs, KeptSignposts]):
    """Stores the replaced messages as evidence, and an anchor to each."""

    type = "KeepSignposts"

    def apply(
        self, view: DecisionView, metadata: NoData, inputs: KeepSignpostsInputs, context: StepContext
    ) -> KeptSignposts:
        anchors = tuple(
            one if isinstance(one, Anchor) else _save_anchor(view, inputs, one, context.now)
            for one in inputs.signposts
        )
        ids = [target.id for anchor in anchors for target in anchor.targets if target.kind == "evidence"]
        return KeptSignposts(anchors=anchors, evidence=tuple(view.evidence.cards(ids)))


def _save_anchor(
    view: DecisionView, inputs: KeepSignpostsInputs, signpost: Signpost, now: datetime
) -> Anchor:
    card = view.evidence.save(inputs.evidence(signpost), evidence_id=uuid4(), created_at=now)
    existing = view.anchors.leading_to(inputs.session_ref, (card.id,))
    if existing:
        return existing[0]  # another cycle has compacted the same messages meanwhile
    anchor = Anchor(
        id=uuid4(),
        session_ref=inputs.session_ref,
        hint=signpost.hint,
        targets=(Target(kind="evidence", id=card.id),),
        created_at=now,
    )
    view.anchors.save(anchor)
    return anchor
