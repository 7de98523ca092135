"""Chats with an invalid reply, and sessions without summaries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gieok import Gieok, Message, Settings
from gieok.adapters.models.offline import OfflineModel
from gieok.app.background.worker import Worker
from gieok.errors import ModelUnavailable, StepFailed
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.clock import Clock
from tests.behind import Behind

HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나, 사용자의 다정한 친구다.")


class Says(OfflineModel):
    """Answers with one text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        return Reply(text=self._text, input_tokens=1, output_tokens=1)


@pytest.mark.parametrize("text", ["", " \n", "x" * 20_001, "안녕\0", "\ud800"])
async def test_an_invalid_reply_is_a_failure_of_the_model(
    settings: Settings, behind: Behind, text: str
) -> None:
    async with await Gieok.open(settings, model=Says(text)) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        with pytest.raises(StepFailed) as failed:
            await user.chat.send(hana.id, "안녕")
    assert (failed.value.step, type(failed.value.cause)) == ("call", ModelUnavailable)
    assert behind.count("messages") == 0


async def test_a_session_without_summaries_ends_after_inactivity(settings: Settings, behind: Behind) -> None:
    """Left alone or closed, it ends by the plan that its chat plan names, and nothing is summarised."""
    clock = Clock()
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        left, closed = [
            (await user.chat.send(hana.id, "안녕", plan="chat_turn_without_summaries")).session_ref
            for _ in range(2)
        ]
        summaries = await user.sessions.close(closed, wait=True)
        assert (summaries.jobs, summaries.memory_id) == ((), None)
        clock.advance(minutes=31)
        await Worker(gieok).run_once(clock())
        for ref in (left, closed):
            assert (await user.sessions.get(ref)).session.ended_at is not None
    assert behind.run("SELECT count(*) FROM jobs WHERE kind = 'summary'") == [(0,)]


async def test_a_long_window_of_a_client_hides_nothing(gieok: Gieok) -> None:
    """The plan shows its last ten messages. What was said before can be recalled as if it were not sent."""
    user = gieok.user("minsu")
    hana = await user.personas.create(HANA)
    first = await user.chat.send(hana.id, "내 암호는 코알라야")
    window = [
        Message(role="user", content="내 암호는 코알라야"),
        Message(role="assistant", content=first.reply),
    ]
    for number in range(8):
        sent = await user.chat.send(hana.id, f"오늘은 산책 {number}번", recent_messages=window)
        window += [
            Message(role="user", content=f"오늘은 산책 {number}번"),
            Message(role="assistant", content=sent.reply),
        ]
    asked = await user.chat.send(hana.id, "내 암호가 뭐였지?", recent_messages=window)
    assert len(asked.prompt.messages) == 11
    assert any("코알라" in hit.text for hit in asked.recalled)
    answer = await user.reply(hana.id, "내 암호가 뭐였지?", recent_messages=window)
    assert any("코알라" in hit.text for hit in answer.recalled)
