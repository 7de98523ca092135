"""The step that brings ordinary facts, which are no state, to mind."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gieok.engine import Data, Stage, Step, StepContext
from gieok.memory.canon.records import Fact
from gieok.memory.canon.rules import brought_to_mind

MAX_TOP_K = 1_000


class RecallFactsMetadata(Data):
    top_k: Annotated[int, Field(ge=0, le=MAX_TOP_K)]


class RecallFactsInputs(Data):
    known: tuple[Fact, ...]
    query: str


class RecalledFacts(Data):
    facts: tuple[Fact, ...]


class RecallFacts(Step[RecallFactsMetadata, RecallFactsInputs, RecalledFacts]):
    """What is known of the user besides the state: what the query names, then what is most important."""

    type = "RecallFacts"
    stages = frozenset({Stage.CONTEXT_SELECT})

    async def run(
        self, metadata: RecallFactsMetadata, inputs: RecallFactsInputs, context: StepContext
    ) -> RecalledFacts:
        facts = brought_to_mind(inputs.known, inputs.query, metadata.top_k)
        context.note("facts", len(facts))
        return RecalledFacts(facts=facts)
