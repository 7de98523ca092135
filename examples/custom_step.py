"""A step of your own in a plan of your own: a diary page about each thing that was said.

    python examples/custom_step.py

A step declares three models: its policy (from the plan), its inputs, its output. It is a read, an act or a
write; this one is an act. The plan below puts it before a step that Gieok has, which stores what it made.
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
    """No defaults: a plan says what it wants, or is refused."""

    most_keywords: Annotated[int, Field(ge=1, le=64)]


class PageInputs(Data):
    message: str


class Page(Data):
    summary: str
    keywords: tuple[str, ...]


class WritePage(ActStep[PageMetadata, PageInputs, Page]):
    """Makes a page, and stores nothing: that is for a write step."""

    type = "WritePage"
    stages = frozenset({Stage.POST_PROCESS})

    async def run(self, metadata: PageMetadata, inputs: PageInputs, context: StepContext) -> Page:
        keywords = tuple(dict.fromkeys(terms(inputs.message)))[: metadata.most_keywords]
        context.note("keywords", len(keywords))  # counts and ids may go into the record, content may not
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
    async with await Gieok.open(steps=[WritePage()]) as memory:
        user = memory.user("minsu")
        for line in ("오늘 면접을 봤다", "Nabi had her surgery"):
            result = await user.run(WRITE_DIARY, {"sessionRef": "diary", "message": line})
            print("wrote", result.record.plan_hash[:12], [step.id for step in result.record.steps])
        for question in ("면접에서는?", "surgery"):
            found = await user.run(READ_DIARY, {"sessionRef": "diary", "message": question})
            print(f"{question} →", found.outputs["find"].model_dump()["memories"][0]["summary"])

        careless = {**PAGE, "metadata": {}}
        try:
            memory.check(
                make_plan({"name": "careless", "version": 1, "request": REQUEST, "steps": [careless]})
            )
        except PlanInvalid as refused:
            print("refused:", refused)


if __name__ == "__main__":
    asyncio.run(main())
