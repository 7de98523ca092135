"""An answer is understood together with the character's question before it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gieok import Gieok, PersonaDraft, Settings
from gieok.adapters.models.offline import OfflineModel
from gieok.memory.conversation.records import Prompt, Reply


class AskingModel(OfflineModel):
    """Remembers like the offline model, and always replies with the same question."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        return Reply(text=self._question, input_tokens=1, output_tokens=1)


@pytest.mark.req("MIND-4")
@pytest.mark.parametrize(
    ("question", "answer", "learned"),
    [
        ("상처가 이제 다 나은 것 같다, 그렇지?", "응", "나은"),
        ("생일이 언제야?", "12월 3일!", "12월 3일"),
    ],
)
async def test_an_answer_to_the_character_is_learned(
    settings: Settings, question: str, answer: str, learned: str
) -> None:
    async with await Gieok.open(settings, model=AskingModel(question)) as gieok:
        user = gieok.user("minsu")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        await user.chat.send("hana", "안녕", wait_memory=True)
        turn = await user.chat.send("hana", answer, wait_memory=True)
        assert any(learned in change.fact.value for change in turn.changes if change.fact)
        assert learned in (await user.context("hana", "기억나?")).prompt.system
