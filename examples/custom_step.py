"""Your own step in your own plan: write a diary page for each message.

    python examples/custom_step.py

A step declares three models: metadata (from the plan), inputs and output. It is a read, an act or a write;
this one is an act. In the plan below, a step of Gieok stores its output.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from gieok import Gieok
from gieok.engine import ActStep, Data, Stage, StepContext, make_plan
from gieok.errors import PlanInvalid
from gieok.text import terms


class PageMetadata(Data):
    """No defaults: a plan without a value is rejected."""

    most_keywords: Annotated[int, Field(ge=1, le=64)]


class PageInputs(Data):
    message: str


class Page(Data):
    summary: str
    keywords: tuple[str, ...]


class WritePage(ActStep[PageMetadata, PageInputs, Page]):
    """Create a page. A write step stores it."""

    type = "WritePage"
    stages = frozenset({Stage.POST_PROCESS})

    async def run(self, metadata: PageMetadata, inputs: PageInputs, context: StepContext) -> Page:
        keywords = tuple(dict.fromkeys(terms(inputs.message)))[: metadata.most_keywords]
        context.note("keywords", len(keywords))  # counts and ids only, no content
        return Page(summary=f"{context.now:%Y-%m-%d}: {inputs.message}", keywords=keywords)


PAGE = {
    "id": "page",
    "type": "WritePage",
    "stage": "PostProcess",
    "inputs": {"message": "request.message"},
    "metadata": {"mostKeywords": 5},
}
KEEP = {
    "id": "keep",
    "type": "PersistMemory",
    "stage": "Persist",
    "inputs": {"sessionRef": "request.sessionRef", "summary": "page.summary", "keywords": "page.keywords"},
}
FIND = {
    "id": "find",
    "type": "RetrieveMemory",
    "stage": "ContextSelect",
    "inputs": {"sessionRef": "request.sessionRef", "query": "request.message"},
    "metadata": {"topK": 3},
}
REQUEST = ["sessionRef", "message"]
WRITE_DIARY = make_plan({"name": "write_diary", "version": 1, "request": REQUEST, "steps": [PAGE, KEEP]})
READ_DIARY = make_plan({"name": "read_diary", "version": 1, "request": REQUEST, "steps": [FIND]})


async def main() -> None:
    async with await Gieok.open(steps=[WritePage()]) as gieok:
        user = gieok.user("minsu")
        for line in ("오늘 면접을 봤다", "Nabi had her surgery"):
            result = await user.run(WRITE_DIARY, {"sessionRef": "diary", "message": line})
            print("wrote", result.record.plan_hash[:12], [step.id for step in result.record.steps])
        for question in ("면접에서는?", "surgery"):
            found = await user.run(READ_DIARY, {"sessionRef": "diary", "message": question})
            print(f"{question} →", found.outputs["find"].model_dump()["memories"][0]["summary"])

        incomplete = {**PAGE, "metadata": {}}
        try:
            gieok.check(
                make_plan({"name": "incomplete", "version": 1, "request": REQUEST, "steps": [incomplete]})
            )
        except PlanInvalid as refused:
            print("refused:", refused)


if __name__ == "__main__":
    asyncio.run(main())
