"""Entries of a keyed lorebook in the prompts of a conversation."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gieok import Gieok, Message, PersonaDraft, Settings
from gieok.memory.canon.records import EMPTY_LOREBOOK, KeyedLorebook, LoreEntry
from gieok.memory.conversation.records import Prompt, Reply
from gieok.testing.clock import Clock
from gieok.testing.models import CountingModel

pytestmark = pytest.mark.req("INT-4")

BOOK = KeyedLorebook(
    entries=(
        LoreEntry(keys=("면접",), content="{{char}}는 {{user}}의 면접을\n도와준 적이 있다.", order=2),
        LoreEntry(keys=("해운대",), content="해운대는 둘이 자주 가는 곳이다.", order=1),
        LoreEntry(keys=(), content="둘은 같은 반이었다.", constant=True, order=3),
    )
)
HANA = PersonaDraft(name="하나", system_prompt="너는 {{char}}야.", keyed_lorebook=BOOK)


class Listener(CountingModel):
    """Keeps the prompts that it gets."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        self.prompts.append(prompt)
        return await super().reply(prompt, emit)

    @property
    def lore(self) -> list[str]:
        """The lines of the block of lore in the last prompt."""
        _, _, block = self.prompts[-1].system.partition("[지금 관련된 설정]\n")
        return block.split("\n\n")[0].split("\n") if block else []


@pytest.mark.parametrize(
    "plan", ["chat_turn", "chat_turn_whole", "chat_turn_without_state", "chat_turn_without_turn_memory"]
)
async def test_an_entry_enters_while_its_key_is_said(settings: Settings, plan: str) -> None:
    model, clock = Listener(), Clock()
    async with await Gieok.open(settings, model=model, clock=clock, background=False) as gieok:
        user = gieok.user("minsu")
        await user.profile.set(display_name="민수")
        await user.personas.create(HANA, persona_id="hana")
        session = await user.sessions.start("hana", plan=plan)

        async def say(text: str, *recent: Message) -> list[str]:
            await user.chat.send(
                "hana", text, session_ref=session.session_ref, plan=plan, recent_messages=recent
            )
            return model.lore

        always = "- 둘은 같은 반이었다."
        assert await say("안녕") == [always]
        interview = ["- 하나는 민수의 면접을", "  도와준 적이 있다."]
        assert await say("내일 면접이 있어") == [*interview, always]
        assert await say("떨린다") == [*interview, always]
        assert await say("해운대에 갈까") == ["- 해운대는 둘이 자주 가는 곳이다.", always]
        window = Message(role="user", content="면접은 끝났어")
        assert await say("그래", window) == [*interview, always]
        assert model.prompts[-1].system.startswith("너는 하나야.")


async def test_a_persona_without_a_lorebook_has_no_block(settings: Settings) -> None:
    model = Listener()
    async with await Gieok.open(settings, model=model, background=False) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(
            HANA.model_copy(update={"keyed_lorebook": EMPTY_LOREBOOK}), persona_id="hana"
        )
        await user.chat.send("hana", "내일 면접이 있어")
        assert "[지금 관련된 설정]" not in model.prompts[-1].system
