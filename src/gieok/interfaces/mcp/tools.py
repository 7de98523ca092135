"""The tools: what a model reads about them, their arguments and results, and what they do.

The owner is never an argument: a tool works on the data of the `Client` that calls it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, Field, ValidationError

from gieok import wire
from gieok.access import Scope
from gieok.app import User
from gieok.engine.plan import place
from gieok.errors import InputRefused, ScopeMissing
from gieok.interfaces.rest.gateway.errors import describe_invalid
from gieok.interfaces.rest.schema.common import MessageTime, Ref, RequestBody, Uuid
from gieok.interfaces.rest.schema.decisions import ProposeDecision, RelationIn, proposal_answer, to_proposal
from gieok.interfaces.rest.schema.memory import LabelList, localised
from gieok.interfaces.rest.schema.params import MAX_Q, request_key
from gieok.interfaces.rest.schema.personas import state_view
from gieok.memory.companion.hits import HIT_KINDS, Hit, HitKind
from gieok.memory.companion.records import EmotionName, MemoryDraft, SummaryText
from gieok.memory.decisions.loading.layers import LoadedContext
from gieok.memory.decisions.records import (
    MAX_EVIDENCE_IDS,
    MAX_RELATIONS,
    Decision,
    DecisionProposal,
    Domain,
    Impact,
    Rationale,
    Statement,
    Strength,
)
from gieok.memory.decisions.rules import MAX_VERSION
from gieok.memory.decisions.steps import MAX_FOCUS
from gieok.memory.fields import AccountPlan, Importance, Language

MAX_HITS = 20
MAX_NAMED = 10
"""Personas that an error names."""

A = TypeVar("A", bound=RequestBody)


@dataclass(frozen=True)
class Client:
    """Who calls a tool: one owner, and what the token allows."""

    user: User
    scopes: frozenset[Scope]
    account_plan: AccountPlan | None
    language: Language
    persona_id: str | None
    """The persona of calls that name none; None for the owner's only persona."""


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool. `description` and the descriptions of the arguments are what the model reads."""

    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[A]
    result: type[BaseModel]
    run: Callable[[Client, A], Awaitable[BaseModel]]
    deletes: bool = False

    async def call(self, client: Client, arguments: Mapping[str, Any]) -> BaseModel:
        """Run the tool. ScopeMissing, or InputRefused with the argument that is wrong."""
        if self.scope not in client.scopes:
            raise ScopeMissing(self.scope)
        try:
            checked = self.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            raise InputRefused(describe_invalid(problem), at=place(problem["loc"])) from None
        return await self.run(client, checked)


PersonaArgument = Annotated[
    Ref | None,
    Field(description="The persona (character or assistant) whose memory it is. Usually left out."),
]
KeyArgument = Annotated[
    str | None,
    Field(description="Your own id of this call. If you repeat a call with the same key, it is saved once."),
]


async def persona_of(client: Client, named: str | None) -> str:
    """The persona of a call. InputRefused if it names none and there is no default."""
    if persona_id := named or client.persona_id:
        return persona_id
    cards = await client.user.personas.list(limit=MAX_NAMED)
    if len(cards) == 1:
        return cards[0].id
    if not cards:
        raise InputRefused(
            "there is no persona yet; ask the user to create one with `gieok persona create`", at="personaId"
        )
    named_cards = ", ".join(f"{card.id} ({card.name})" for card in cards)
    raise InputRefused(f"there are several personas, so name one: {named_cards}", at="personaId")


class Recall(RequestBody):
    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_Q,
            description="A question or keywords, in the language of the conversation: "
            "`지난주 면접 어떻게 됐어`, `food the user cannot eat`.",
        ),
    ]
    kinds: Annotated[
        list[HitKind],
        Field(
            min_length=1,
            description="What to search: `memory` (summaries of what happened), `message` (what was said, "
            "word for word), `fact` (what is true of someone). Default: all.",
        ),
    ] = Field(default_factory=lambda: list(HIT_KINDS))
    limit: Annotated[int, Field(ge=1, le=MAX_HITS, description="The largest number of hits.")] = 5
    persona_id: PersonaArgument = None


class RecalledHit(wire.WireModel):
    """A shorter view of a hit, because a model pays for each word: without the signals of its score."""

    kind: HitKind
    id: str
    text: str
    timestamp: datetime
    role: Literal["user", "assistant"] | None
    """Who said a message."""
    speaker: str | None
    confidence: float
    """How much of the query it covers, from 0 to 1."""
    matched_words: tuple[str, ...]


class Recalled(wire.WireModel):
    """Hits, best first. `degraded` names parts of the search that failed, such as `vectors`."""

    persona_id: str
    hits: tuple[RecalledHit, ...]
    degraded: tuple[str, ...]


async def _recall(client: Client, given: Recall) -> Recalled:
    persona_id = await persona_of(client, given.persona_id)
    hits = await client.user.companion.search(
        persona_id, given.query, kinds=given.kinds, limit=given.limit, account_plan=client.account_plan
    )
    return Recalled(persona_id=persona_id, hits=tuple(map(_view, hits)), degraded=hits.degraded)


def _view(hit: Hit) -> RecalledHit:
    return RecalledHit(
        kind=hit.kind,
        id=hit.id,
        text=hit.text,
        timestamp=hit.timestamp,
        role=hit.role,
        speaker=hit.speaker,
        confidence=round(hit.confidence, 2),
        matched_words=hit.why.matched_words,
    )


class Remember(RequestBody):
    text: Annotated[
        SummaryText,
        Field(
            description="One thing, as a sentence that is still understood in a year, with names and dates: "
            "`지수는 2026년 3월에 부산으로 이사했다.`"
        ),
    ]
    topics: Annotated[LabelList, Field(description="Up to a few short labels: `이사`, `부산`.")] = Field(
        default_factory=list[str]
    )
    emotion: Annotated[
        EmotionName | None, Field(description="What the user felt: joy, sadness, stress, calm or excitement.")
    ] = None
    importance: Annotated[
        Importance | None, Field(description="1 (a detail) to 10 (changes a life). Default: 5.")
    ] = None
    occurred_at: Annotated[
        MessageTime | None, Field(description="When it happened, such as 2026-03-01T09:00:00Z. Default: now.")
    ] = None
    persona_id: PersonaArgument = None
    idempotency_key: KeyArgument = None


async def _remember(client: Client, given: Remember) -> wire.CreatedMemory:
    draft = MemoryDraft(
        persona_id=await persona_of(client, given.persona_id),
        summary=given.text,
        topics=tuple(given.topics),
        emotion=given.emotion,
        importance=given.importance,
        occurred_at=given.occurred_at,
    )
    saved = await client.user.companion.create(
        draft, account_plan=client.account_plan, once=request_key(given.idempotency_key, given)
    )
    notices = localised(saved.notices, client.language)
    return wire.CreatedMemory(memory=saved.memory, archived=saved.archived, notices=notices)


class Forget(RequestBody):
    id: Annotated[Uuid, Field(description="The `id` of a hit of `recall`, or the `rootId` of a fact.")]
    kind: Annotated[
        Literal["memory", "fact"],
        Field(description="The `kind` of the hit. A memory is deleted; a fact is no longer true."),
    ] = "memory"
    persona_id: PersonaArgument = None


class Forgotten(wire.WireModel):
    """What was forgotten."""

    kind: Literal["memory", "fact"]
    id: UUID


async def _forget(client: Client, given: Forget) -> Forgotten:
    if given.kind == "memory":
        await client.user.companion.delete(given.id)
    else:
        persona_id = await persona_of(client, given.persona_id)
        await client.user.canon.retire_fact(persona_id, given.id)
    return Forgotten(kind=given.kind, id=given.id)


class GetState(RequestBody):
    as_of: Annotated[MessageTime | None, Field(description="What was known at this time. Default: now.")] = (
        None
    )
    persona_id: PersonaArgument = None


class PersonaState(wire.State):
    """The state between the user and a persona."""

    persona_id: str


async def _state(client: Client, given: GetState) -> PersonaState:
    persona_id = await persona_of(client, given.persona_id)
    state = state_view(await client.user.canon.state(persona_id, as_of=given.as_of))
    return PersonaState(persona_id=persona_id, **dict(state))


class GetContext(RequestBody):
    domain: Annotated[
        Domain, Field(description="The part of the work that it is about: `wms`, `billing`, `결제`.")
    ]
    query: Annotated[
        str | None,
        Field(max_length=MAX_Q, description="What you are about to do. Adds decisions that share words."),
    ] = None
    focus: Annotated[
        list[Uuid],
        Field(max_length=MAX_FOCUS, description="`rootId`s of decisions whose relations are wanted."),
    ] = Field(default_factory=list[UUID])
    budget: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="At most so many tokens. Default: by the plan.")
    ] = None


async def _decisions_context(client: Client, given: GetContext) -> LoadedContext:
    return await client.user.decisions.context(
        given.domain, q=given.query, roots=given.focus, budget=given.budget
    )


class GetImpact(RequestBody):
    root_id: Annotated[Uuid, Field(description="The `rootId` of the decision that may change.")]
    depth: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="How many relations to follow at most.")
    ] = None
    limit: Annotated[int | None, Field(ge=1, le=1_000_000, description="At most so many decisions.")] = None


async def _impact(client: Client, given: GetImpact) -> Impact:
    return await client.user.decisions.impact(given.root_id, depth=given.depth, limit=given.limit)


class Propose(RequestBody):
    statement: Annotated[
        Statement, Field(description="The decision in one sentence: `재고는 이동 기록에서만 계산한다`.")
    ]
    strength: Annotated[
        Strength,
        Field(description="`axis` (a direction), `lock` (a fixed rule) or `normal`."),
    ]
    domain: Annotated[
        Domain | None, Field(description="Where it applies, such as `wms`. Left out: everywhere.")
    ] = None
    rationale: Annotated[Rationale | None, Field(description="Why.")] = None
    root_id: Annotated[
        Uuid | None, Field(description="The `rootId` of the decision that it changes. Left out: a new one.")
    ] = None
    relations: Annotated[
        list[RelationIn],
        Field(max_length=MAX_RELATIONS, description="Relations to other decisions, by their `rootId`s."),
    ] = Field(default_factory=list[RelationIn])
    evidence_ids: Annotated[
        list[Uuid], Field(max_length=MAX_EVIDENCE_IDS, description="Ids of evidence that it is based on.")
    ] = Field(default_factory=list[UUID])

    def proposal(self) -> DecisionProposal:
        fields = {name: getattr(self, name) for name in Propose.model_fields}
        return to_proposal(
            ProposeDecision.model_construct(scope="domain" if self.domain else "global", **fields)
        )


async def _propose(client: Client, given: Propose) -> wire.ProposalReport:
    answer = proposal_answer(await client.user.decisions.propose(given.proposal()))
    return wire.ProposalReport(**{name: getattr(answer, name) for name in wire.ProposalReport.model_fields})


class Save(Propose):
    expected_version: Annotated[
        int | None,
        Field(
            ge=0,
            le=MAX_VERSION,
            description="The version that it replaces, from `propose_decision`. "
            "If the decision has changed since, nothing is saved.",
        ),
    ] = None
    idempotency_key: KeyArgument = None


async def _save(client: Client, given: Save) -> Decision:
    return await client.user.decisions.save(
        given.proposal(),
        expected_version=given.expected_version,
        once=request_key(given.idempotency_key, given),
    )


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "recall",
        "Recall",
        "Search long-term memory: what the user said, felt, did and planned in earlier conversations, "
        "in Korean and English. Call it before you answer anything that may depend on the past (names, "
        "tastes, plans, promises; `지난번에`, `내가 말했던`, `as I told you`). Best hits first, each "
        "with when it happened and how much of the query it covers (`confidence`, 0 to 1). If no hit answers "
        "the question, nothing is stored about it: say so, do not guess.",
        "read",
        Recall,
        Recalled,
        _recall,
    ),
    Tool(
        "remember",
        "Remember",
        "Store one thing in long-term memory. Call it when the user asks you to remember (`기억해 줘`), "
        "or tells something that will matter in later conversations: a name, a taste, a plan, a change "
        "in their life. Do not store what `recall` finds already, what you only assume, or secrets such "
        "as passwords.",
        "write",
        Remember,
        wire.CreatedMemory,
        _remember,
    ),
    Tool(
        "forget",
        "Forget",
        "Delete a memory, or retire a fact that is no longer true. Call it only when the user asks for "
        "it (`그건 잊어 줘`) or corrects something; `recall` first to get the id. A memory cannot be "
        "restored.",
        "write",
        Forget,
        Forgotten,
        _forget,
        deletes=True,
    ),
    Tool(
        "state",
        "State",
        "What is true now between the user and the persona: names, relationships, promises, plans, "
        "preferences. Call it at the start of a conversation. `block` is the same as text, ready to be "
        "read; `facts` and `ordinary` have the ids and dates.",
        "read",
        GetState,
        PersonaState,
        _state,
    ),
    Tool(
        "decisions_context",
        "Decisions that apply",
        "The decisions that apply to a part of the work, strongest first, in seven layers: principles, "
        "structure, global axes, then axes, locks and normal decisions of the domain, then notes. Call "
        "it before you design or change something, and follow axes and locks.",
        "read",
        GetContext,
        LoadedContext,
        _decisions_context,
    ),
    Tool(
        "impact",
        "Impact of a change",
        "Which decisions a change of one decision reaches, each with the path of relations that leads "
        "to it. Call it before you propose to change or replace a decision.",
        "read",
        GetImpact,
        Impact,
        _impact,
    ),
    Tool(
        "propose_decision",
        "Propose a decision",
        "Check a decision before it is taken: what it would replace, what it conflicts with, what "
        "constrains it, what it affects. Nothing is stored. Show the user the conflicts, and let the "
        "user decide.",
        "read",
        Propose,
        wire.ProposalReport,
        _propose,
    ),
    Tool(
        "save_decision",
        "Save a decision",
        "Take a decision that applies from now on. Call `propose_decision` first, and call this only "
        "after the user has agreed. With `rootId` it becomes the next version of that decision; the "
        "history stays.",
        "write",
        Save,
        Decision,
        _save,
    ),
)
