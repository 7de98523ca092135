"""Turns with all steps of canon, and a model with scripted replies and facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal

from gieok import Gieok
from gieok.engine import CycleResult, ExecutionPlan, make_plan
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import ContextMemory, Prompt, Reply
from gieok.memory.conversation.steps import PromptAssemble
from gieok.memory.observations import (
    Category,
    Conversation,
    Observation,
    Speaker,
    Understood,
    VerbatimLimit,
)
from gieok.testing.models import CountingModel

HANA = PersonaDraft(
    name="하나",
    language="ko",
    system_prompt="너는 하나야. 다정한 친구처럼 말해.",
    relationships=("사용자와 처음 만난 사이",),
)
WHOLE = "*"
PERSONA = {"personaId": "request.personaId"}
TERMS = {"maxOutputTokens": 1000, "attempts": 1, "attemptSeconds": 30, "backoffSeconds": [0]}
_PLAN: dict[str, Any] = {
    "name": "canon_turn",
    "version": 1,
    "request": ["sessionRef", "personaId", "message", "memories", "recentMessages"],
    "steps": [
        {"id": "persona", "type": "LoadPersona", "stage": "ContextSelect", "inputs": PERSONA},
        {
            "id": "state",
            "type": "LoadState",
            "stage": "ContextSelect",
            "inputs": PERSONA | {"language": "persona.language"},
            "metadata": {"maxChars": 1500, "maxTokens": 500, "pastDays": 14, "withOrdinary": False},
        },
        {
            "id": "known",
            "type": "LoadFacts",
            "stage": "ContextSelect",
            "inputs": PERSONA,
            "metadata": {"limit": 200},
        },
        {
            "id": "context",
            "type": "ContextSelect",
            "stage": "ContextSelect",
            "inputs": {
                "persona": "persona.persona",
                "state": "state.facts",
                "recentMessages": "request.recentMessages",
                "memories": "request.memories",
            },
            "metadata": {"recentMessages": 10},
        },
        {
            "id": "assemble",
            "type": "PromptAssemble",
            "stage": "PromptAssemble",
            "inputs": {"context": "context.context", "message": "request.message"},
            "metadata": {"tokenBudget": 4000, "windowShare": 0.5, "quoteChars": 500},
        },
        {
            "id": "call",
            "type": "LLMCall",
            "stage": "LLMCall",
            "inputs": {"prompt": "assemble.prompt"},
            "metadata": TERMS,
        },
        {
            "id": "exchange",
            "type": "CurrentExchange",
            "stage": "PostProcess",
            "inputs": {"message": "request.message", "reply": "call.text"},
        },
        {
            "id": "list",
            "type": "ListFacts",
            "stage": "PostProcess",
            "inputs": {"known": "known.facts", "query": "request.message"},
            "metadata": {"topK": 20},
        },
        {
            "id": "summarize",
            "type": "SummarizeMemory",
            "stage": "PostProcess",
            "inputs": {"exchanges": "exchange.exchanges", "known": "list.facts"},
            "metadata": TERMS
            | {"summaryChars": 300, "maxKeywords": 8, "verbatim": {"chars": 20, "share": 0.7}},
        },
        {
            "id": "ground",
            "type": "GroundFacts",
            "stage": "PostProcess",
            "inputs": {
                "observations": "summarize.observations",
                "exchanges": "exchange.exchanges",
                "before": "exchange.before",
                "known": "list.facts",
                "persona": "persona.persona",
            },
            "metadata": {
                "fromReply": ["promise", "agreement", "reconciliation", "name"],
                "maxFacts": 5,
            },
        },
        {
            "id": "merge",
            "type": "MergeFacts",
            "stage": "PostProcess",
            "inputs": {
                "sessionRef": "request.sessionRef",
                "known": "known.facts",
                "ids": "list.ids",
                "observations": "ground.observations",
                "exchanges": "exchange.exchanges",
            },
            "metadata": {"days": {"appointment": 7, "illness": 10, "mood": 1}},
        },
        {
            "id": "save",
            "type": "SaveFacts",
            "stage": "Persist",
            "inputs": PERSONA | {"changes": "merge.changes"},
        },
    ],
}


def turn_plan(change: Callable[[dict[str, Any]], object] = lambda _: None) -> ExecutionPlan:
    """The plan, after a change to its steps by their ids."""
    document = deepcopy(_PLAN)
    change({step["id"]: step for step in document["steps"]} | {"plan": document})
    return make_plan(document)


def found(
    value: str,
    key: str = "지훈",
    category: Category = Category.RELATIONSHIP,
    *,
    importance: int = 5,
    op: Literal["add", "update", "retire"] = "add",
    says: Speaker = "user",
    quote: str = WHOLE,
) -> Observation:
    """An observation as a model gives it. Its quote is the whole message of the speaker by default."""
    return Observation(
        turn=1, op=op, category=category, key=key, value=value, quote=quote, says=says, importance=importance
    )


class Scripted(CountingModel):
    """Replies and observes by script, message by message, and keeps its prompts."""

    def __init__(
        self,
        facts: Mapping[str, Sequence[Observation]] | None = None,
        replies: Mapping[str, str] | None = None,
    ) -> None:
        self.facts: dict[str, list[Observation]] = {
            said: list(found) for said, found in (facts or {}).items()
        }
        self.replies = dict(replies or {})
        self.prompts: list[Prompt] = []

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.prompts.append(prompt)
        message = prompt.messages[-1].content
        return Reply(text=self.replies.get(message, "그렇구나."), input_tokens=1, output_tokens=1)

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        made = await super().remember(
            conversation, summary_chars=summary_chars, max_keywords=max_keywords, verbatim=verbatim
        )
        (exchange,) = conversation.exchanges
        observations = [
            each.model_copy(update={"quote": exchange.text(each.says)}) if each.quote == WHOLE else each
            for each in self.facts.get(exchange.text("user"), ())
        ]
        return made.model_copy(update={"observations": tuple(observations)})


async def talk(
    gieok: Gieok,
    message: str,
    *,
    persona_id: str = "hana",
    memories: Sequence[ContextMemory] = (),
    plan: ExecutionPlan | None = None,
    **more: Any,
) -> CycleResult:
    """One turn of minsu with a persona. `more` is what a changed plan wants besides."""
    scope = gieok.scope("minsu")
    request = {
        "sessionRef": "s",
        "personaId": persona_id,
        "message": message,
        "memories": tuple(memories),
        "recentMessages": (),
        **more,
    }
    return await gieok.engine.run(gieok.check(plan or turn_plan()), scope, request)


def system_prompt(result: CycleResult) -> str:
    """What the model was told in this turn."""
    assembled = result.output_of(PromptAssemble)
    assert assembled is not None
    return assembled.prompt.system
