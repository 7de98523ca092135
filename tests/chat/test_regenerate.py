"""Another reply to the last message: the former turn is withdrawn in the same commit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gieok import Gieok, Settings
from gieok.errors import Conflict, ModelUnavailable, NotFound, PlanHashMismatch, SessionEnded, StepFailed
from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.clock import Clock
from tests.sessions.test_withdrawal import BUSAN, PROMISE, SEOUL, Gated, opened, say, values


class Fickle(Gated):
    """Numbers its replies, and fails on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.is_away = False

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        if self.is_away:
            raise ModelUnavailable("away")
        made = await super().reply(prompt, emit)
        return made.model_copy(update={"text": f"{made.text} {len(self.prompts)}"})


@pytest.mark.req("MIND-12")
async def test_another_reply_replaces_the_last_turn(settings: Settings) -> None:
    model = Fickle()
    async with await Gieok.open(settings, model=model) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, BUSAN)
        former = await user.chat.send("hana", SEOUL, session_ref="s", wait_memory=True)
        again = await user.chat.regenerate("s", wait_memory=True)
        assert (again.session_ref, again.reply != former.reply) == ("s", True)
        assert [each.content for each in model.prompts[-1].messages] == [BUSAN, "그렇구나. 1", SEOUL]
        log = await user.sessions.log("s")
        assert [(each.role, each.withdrawn_at is None) for each in log] == [
            ("user", True),
            ("assistant", True),
            ("user", False),
            ("assistant", False),
            ("user", True),
            ("assistant", True),
        ]
        assert [each.content for each in (await user.sessions.get("s")).messages][-2:] == [SEOUL, again.reply]
        (fact,) = await user.canon.facts("hana")
        assert (fact.value, fact.source and fact.source.message_id) == ("서울", again.turn_id)
        reasons = [each.reason for each in await user.canon.history("hana", fact.root_id)]
        assert reasons == [None, None, "withdrawn", None]


@pytest.mark.req("MIND-12")
async def test_what_only_the_former_reply_said_is_gone(settings: Settings) -> None:
    model = Fickle()
    async with await Gieok.open(settings, model=model) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, PROMISE)
        assert len(await values(user)) == 1
        model.replies[PROMISE] = "글쎄."
        await user.chat.regenerate("s", wait_memory=True)
        assert await values(user) == []


@pytest.mark.req("MIND-12")
async def test_a_failed_model_changes_nothing(settings: Settings) -> None:
    model = Fickle()
    async with await Gieok.open(settings, model=model) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        await say(user, BUSAN)
        before = await user.sessions.log("s")
        model.is_away = True
        with pytest.raises(StepFailed):
            await user.chat.regenerate("s")
        assert await user.sessions.log("s") == before
        assert await values(user) == ["부산"]


async def test_what_cannot_be_regenerated_is_refused(settings: Settings) -> None:
    clock = Clock()
    async with await Gieok.open(settings, model=Fickle(), clock=clock) as gieok:
        user = gieok.user("minsu")
        await opened(user)
        with pytest.raises(NotFound):
            await user.chat.regenerate("unknown")
        await user.sessions.start("hana", plan="chat_turn", session_ref="empty")
        with pytest.raises(NotFound):
            await user.chat.regenerate("empty")
        await user.chat.send("hana", BUSAN, session_ref="whole", plan="chat_turn_whole")
        with pytest.raises(Conflict, match="cannot replace"):
            await user.chat.regenerate("whole")
        await say(user, BUSAN)
        with pytest.raises(PlanHashMismatch):
            await user.chat.regenerate("s", plan="chat_turn_without_state")
        with pytest.raises(NotFound):
            await gieok.user("jieun").chat.regenerate("s")
        await user.sessions.close("s")
        with pytest.raises(SessionEnded):
            await user.chat.regenerate("s")
        assert len(await user.sessions.log("s")) == 2
