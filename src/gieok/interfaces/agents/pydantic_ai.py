"""`GieokMemory`: a capability that gives a pydantic-ai agent a persona with memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pydantic_ai import AgentRunResult, FunctionToolset, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse, UserContent

from gieok.app import User
from gieok.app.chat import CHAT_PLAN
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.fields import MAX_MESSAGE_CHARS
from gieok.memory.sessions.records import ChatMessage, Role
from gieok.text.escaping import escape_line

HITS = 10
"""The largest number of hits that the tool `recall` returns."""


@dataclass
class GieokMemory(AbstractCapability[Any]):
    """Memory of one owner's conversations with a persona, for `Agent(capabilities=[…])`.

    The instructions of each run are the persona, its state, what is recalled for the prompt, and the last
    messages of the session if the run has no `message_history`. The tools `recall` and `remember` search and
    add memories. After a run that succeeded, its prompt and its reply are
    saved in a session, and a job remembers them. The persona must exist.
    """

    user: User = field(repr=False)
    persona_id: str
    session_ref: str | None = None
    """The session of the messages. None: the open session with the persona, or a new one."""
    budget: int | None = None
    """The tokens of the instructions and the prompt; None is that of the plan."""
    saves: bool = True
    """Whether prompts and replies are saved and remembered."""

    def get_instructions(self) -> Any:
        """The persona and its memory, for the prompt of the run."""
        return self._instructions

    def get_toolset(self) -> FunctionToolset[Any]:
        """`recall` and `remember`."""
        return FunctionToolset[Any]([self.recall, self.remember])

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Save the exchange. A reply that is no text is not saved."""
        said = _text(ctx.prompt)
        if self.saves and said and isinstance(result.output, str) and result.output.strip():
            run, now = ctx.run_id or str(uuid4()), datetime.now(UTC)
            said_by_user = _message(f"{run}-user", "user", said, now)
            reply = _message(f"{run}-reply", "assistant", result.output, now)
            await self.user.sessions.save_messages(await self._session(), [said_by_user, reply])
        return result

    async def recall(self, query: str) -> list[dict[str, Any]]:
        """Search the memory of earlier conversations: what happened, what was said, what is true of the user.

        Args:
            query: A question or keywords, in the language of the conversation.
        """
        hits = await self.user.companion.search(self.persona_id, query, kinds="all", limit=HITS)
        return [
            {
                "kind": hit.kind,
                "text": hit.text,
                "when": hit.timestamp.isoformat(),
                "matchedWords": list(hit.why.matched_words),
            }
            for hit in hits
        ]

    async def remember(self, text: str) -> str:
        """Remember one thing for later conversations.

        Args:
            text: A sentence that is still understood in a year, with names and dates.
        """
        saved = await self.user.companion.create(MemoryDraft(persona_id=self.persona_id, summary=text))
        return f"remembered as {saved.memory.id}"

    async def _instructions(self, ctx: RunContext[Any]) -> str:
        context = await self.user.context(
            self.persona_id, _text(ctx.prompt) or None, session_ref=self.session_ref, budget=self.budget
        )
        window = context.prompt.messages[: -1 if _text(ctx.prompt) else None]
        earlier_runs = (each.run_id != ctx.run_id for each in ctx.messages if isinstance(each, ModelResponse))
        has_history = any(earlier_runs)
        if has_history or not window:
            return context.prompt.system
        said = (f"{message.role}: {escape_line(message.content)}" for message in window)
        return "\n".join((context.prompt.system, "", "[Earlier in this conversation]", *said))

    async def _session(self) -> str:
        if self.session_ref is not None:
            return self.session_ref
        session = await self.user.chat.open_session(self.persona_id)
        if session is None:
            session = await self.user.sessions.start(self.persona_id, plan=CHAT_PLAN)
        return session.session_ref


def _message(message_id: str, role: Role, text: str, at: datetime) -> ChatMessage:
    """A message, cut to the longest one that a session stores."""
    return ChatMessage(id=message_id, role=role, content=text[:MAX_MESSAGE_CHARS], timestamp=at)


def _text(prompt: str | Sequence[UserContent] | None) -> str:
    """The text of a prompt. Images and files are left out."""
    if prompt is None or isinstance(prompt, str):
        return (prompt or "").strip()
    return "\n".join(part for part in prompt if isinstance(part, str)).strip()
