"""Runs the Python snippets of a page in order, in one namespace."""

from __future__ import annotations

import ast
import inspect
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import gieok as package
from gieok import DecisionProposal, Gieok, PersonaDraft
from gieok.app.background.jobs import JOB_PLANS
from gieok.client import GieokClient
from gieok.memory.sessions.records import ChatMessage
from gieok.testing.embedders import LetterEmbedder
from tests.docs.blocks import Block

PERSONA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나, 다정한 친구다.")
LOTS = DecisionProposal(statement="재고는 로트 단위로 센다", strength="axis", scope="domain", domain="wms")


async def run_snippets(blocks: Iterable[Block], service: tuple[str, str] | None) -> None:
    """Run the snippets of a page. `service` is the URL and a token of a running service, for the client."""
    async with _names(service) as names:
        for block in blocks:
            code = compile(block.text, block.location, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, names)  # exec() would not return the coroutine of a top-level await
            if inspect.isawaitable(result):
                await result


@asynccontextmanager
async def _names(service: tuple[str, str] | None) -> AsyncGenerator[dict[str, Any]]:
    """The namespace: the public names, an open Gieok, a user with a persona, and a team with a decision."""
    async with AsyncExitStack() as stack:
        gieok = await stack.enter_async_context(await Gieok.open(embedder=LetterEmbedder()))
        user = gieok.user("kim")
        names = {name: getattr(package, name) for name in package.__all__}
        team = gieok.user("team")
        names |= {"gieok": gieok, "user": user, "team": team, "JOB_PLANS": JOB_PLANS}
        names["lots"] = (await team.decisions.save(LOTS)).root_id
        names["hana"] = await user.personas.create(PERSONA, persona_id="hana")
        message = ChatMessage(id="m1", role="user", content="내일 면접이 있어", timestamp=datetime.now(UTC))
        names["messages"] = [message]
        if service:
            names["client"] = await stack.enter_async_context(GieokClient(*service))
        yield names
        if names["gieok"] is not gieok:
            await names["gieok"].close()
