"""Your own step in your own plan: write a diary page for each message.

    python examples/custom_step.py

A step declares three models: metadata (from the plan), inputs and output. It is a read, an act or a write;
this one is an act. In the plan below, a step of Gieok stores its output.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from gieok import Gieok, MemoryDraft
from gieok.engine import ActStep, Data, Stage, StepContext, make_plan
from gieok.errors import PlanInvalid
from gieok.text import terms


class PageMetadata(Data):
    """No defaults: a plan without a value is rejected."""

    most_topics: Annotated[int, Field(ge=1, le=32)]


class PageInputs(Data):
    message: str


class Page(Data):
    draft: MemoryDraft


class WritePage(ActStep[PageMetadata, PageInputs, Page]):
    """Create a page. A write step stores it."""

    type = "WritePage"
    stages = frozenset({Stage.POST_PROCESS})

    async def run(self, metadata: PageMetadata, inputs: PageInputs, context: StepContext) -> Page:
        topics = tuple(dict.fromkeys(terms(inputs.message)))[: metadata.most_topics]
        context.note("topics", len(topics))  # counts and ids only, no content
        text = f"{context.now:%Y-%m-%d}: {inputs.message}"
        return Page(draft=MemoryDraft(persona_id="diary", summary=text, topics=topics))


PAGE = {
    "id": "page",
    "type": "WritePage",
    "stage": "PostProcess",
    "inputs": {"message": "request.message"},
    "metadata": {"mostTopics": 5},
}
KEEP = {
    "id": "keep",
    "type": "CreateMemory",
    "stage": "Persist",
    "inputs": {
        "draft": "page.draft",
        "accountPlan": "request.accountPlan",
        "autoArchive": "request.autoArchive",
    },
    "metadata": {
        "activeLimit": {"free": 5, "premium": None},
        "moments": {"minImportance": 7, "emotions": ["joy"]},
        "importance": 5,
        "emotion": "calm",
        "notices": dict.fromkeys(("full", "more", "topics", "excerpt", "unremembered")),
    },
}
REQUEST = ["message", "accountPlan", "autoArchive"]
WRITE_DIARY = make_plan({"name": "write_diary", "version": 1, "request": REQUEST, "steps": [PAGE, KEEP]})


async def main() -> None:
    async with await Gieok.open(steps=[WritePage()]) as gieok:
        user = gieok.user("minsu")
        for line in ("오늘 면접을 봤다", "Nabi had her surgery"):
            request = {"message": line, "accountPlan": "premium", "autoArchive": True}
            result = await user.run(WRITE_DIARY, request)
            print("wrote", result.record.plan_hash[:12], [step.id for step in result.record.steps])
        for question in ("면접에서는?", "surgery"):
            (hit, *_) = await user.companion.search("diary", question)
            print(f"{question} →", hit.memory.summary)

        incomplete = {**PAGE, "metadata": {}}
        try:
            gieok.check(
                make_plan({"name": "incomplete", "version": 1, "request": REQUEST, "steps": [incomplete]})
            )
        except PlanInvalid as refused:
            print("refused:", refused)


if __name__ == "__main__":
    asyncio.run(main())
