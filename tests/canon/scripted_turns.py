"""Turns with all steps of canon, and a model with scripted replies and facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from gieok import Gieok
from gieok.engine import CycleResult, ExecutionPlan, make_plan
from gieok.memory.canon.records import ExtractedFact, Fact, PersonaDraft
from gieok.memory.conversation.records import ContextMemory, Prompt, Reply
from gieok.memory.conversation.steps import PromptAssemble
from gieok.memory.observations import Category
from gieok.testing.models import CountingModel

HANA = PersonaDraft(
    name="하나",
    language="ko",
    system_prompt="너는 하나야. 다정한 친구처럼 말해.",
    relationships=("사용자와 처음 만난 사이",),
)
PERSONA = {"personaId": "request.personaId"}
TERMS = {"maxOutputTokens": 1000, "attempts": 1, "attemptSeconds": 30, "backoffSeconds": [0]}
_PLAN: dict[str, Any] = {
    "name": "canon_turn",
    "version": 1,
    "request": ["personaId", "message", "memories", "recentMessages"],
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
            "metadata": {"tokenBudget": 4000},
        },
        {
            "id": "call",
            "type": "LLMCall",
            "stage": "LLMCall",
            "inputs": {"prompt": "assemble.prompt"},
            "metadata": TERMS,
        },
        {
            "id": "extract",
            "type": "ExtractFacts",
            "stage": "PostProcess",
            "inputs": {
                "message": "request.message",
                "reply": "call.text",
                "known": "known.facts",
                "prompt": "assemble.prompt",
            },
            "metadata": TERMS | {"maxFacts": 5, "minGrounding": 0.5, "fromReply": ["RELATIONSHIP", "EVENT"]},
        },
        {
            "id": "save",
            "type": "SaveFacts",
            "stage": "Persist",
            "inputs": PERSONA | {"facts": "extract.facts"},
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
    retracts: bool = False,
) -> ExtractedFact:
    """A fact as an extractor gives it."""
    return ExtractedFact(
        category=category, key=key, value=value, importance=importance, provenance="user", retracts=retracts
    )


class Scripted(CountingModel):
    """Replies and finds by script, message by message, and remembers what it was shown."""

    def __init__(
        self,
        facts: Mapping[str, Sequence[ExtractedFact]] | None = None,
        replies: Mapping[str, str] | None = None,
    ) -> None:
        self.facts: dict[str, list[ExtractedFact]] = {
            said: list(found) for said, found in (facts or {}).items()
        }
        self.replies = dict(replies or {})
        self.shown: list[tuple[str, str]] = []
        self.prompts: list[Prompt] = []
        self._message = ""

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.prompts.append(prompt)
        self._message = prompt.messages[-1].content
        return Reply(text=self.replies.get(self._message, "그렇구나."), input_tokens=1, output_tokens=1)

    async def extract_facts(
        self, user: str, assistant: str, known: Sequence[Fact], *, before: str = ""
    ) -> tuple[ExtractedFact, ...]:
        self.shown.append((user, assistant))
        return tuple(self.facts.get(self._message, ()))


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
