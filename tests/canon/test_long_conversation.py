"""A conversation of 200 turns: the state is always current, and the persona never changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gieok import Gieok, Settings, Worker
from gieok.adapters.models.offline import OfflineModel
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.canon.rules import is_state, persona_text
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.observations import Category
from gieok.testing.clock import Clock
from tests.canon.long_conversation import TALK, Line
from tests.sessions.conversation import work

HANA = PersonaDraft(
    name="하나",
    language="ko",
    system_prompt="너는 하나, 사용자의 다정한 친구다. 반말로 말한다.",
    relationships=("사용자와 처음 만난 사이",),
)
MAX_CHARS = 1_500
LEAST_CHANGES = 15


class Scripted(OfflineModel):
    """Answers as the script says; everything else is the offline model's own work."""

    answer = ""

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        emit(self.answer)
        return Reply(text=self.answer, input_tokens=1, output_tokens=1)


def follow(current: dict[tuple[Category, str], str], line: Line) -> set[str]:
    """Bring the expected state up to date with a turn; the values that are past from now on."""
    past: set[str] = set()
    for change in line.changes:
        before = current.pop((change.category, change.key), None)
        if before is not None and before != change.value:
            past.add(before)
        if change.value is not None:
            current[change.category, change.key] = change.value
    return past


def test_the_conversation_is_long_and_changes_much() -> None:
    """The script itself is what the clause asks for."""
    changes = [change for line in TALK for change in line.changes if is_state(change.category)]
    assert len(TALK) >= 200
    assert len(changes) >= LEAST_CHANGES
    partner = [change.value for change in changes if change.key == "partner"]
    assert len(partner) >= 3
    assert any(change.category is Category.GOAL and change.value is None for change in changes)


@pytest.mark.req("CANON-10", "CANON-1", "CANON-5", "CANON-6")
async def test_the_state_is_always_the_current_one(settings: Settings) -> None:
    """After every turn the block shows what is true now and nothing that is past, within its limit."""
    clock, model = Clock(), Scripted()
    async with await Gieok.open(settings, clock=clock, model=model) as gieok:
        user = gieok.user("seoyeon")
        persona = await user.personas.create(HANA)
        current: dict[tuple[Category, str], str] = {}
        past: set[str] = set()
        session: str | None = None
        before = await user.canon.state(persona.id)
        for number, line in enumerate(TALK):
            model.answer = line.assistant
            turn = await user.chat.send(
                persona.id, line.user, session_ref=session, account_plan="premium", wait_memory=True
            )
            session = turn.session_ref
            clock.advance(minutes=2)
            assert turn.prompt.system.startswith(persona_text(HANA))
            assert before.block in turn.prompt.system, f"turn {number}: {line.user}"
            assert turn.state == before.facts
            past = (past | follow(current, line)) - set(current.values())
            state = before = await user.canon.state(persona.id)
            shown = {(fact.category, fact.key): fact.value for fact in state.facts}
            expected = {key: value for key, value in current.items() if is_state(key[0])}
            assert shown == expected, f"turn {number}: {line.user}"
            lines = {text.split(": ", 1)[-1] for text in state.block.splitlines() if text.startswith("- (")}
            assert not lines & past, f"turn {number}: {line.user}"
            assert len(state.block) <= MAX_CHARS
        assert await user.personas.get(persona.id) == persona
        assert len(await user.personas.versions(persona.id)) == 1


@pytest.mark.req("CANON-10", "MIND-1")
async def test_the_state_is_current_when_remembering_is_late(settings: Settings) -> None:
    """A worker remembers twenty turns at a time, each with its day and in its order."""
    clock, model, behind = Clock(), Scripted(), 20
    async with await Gieok.open(settings, clock=clock, model=model) as gieok:
        user, worker = gieok.user("seoyeon"), Worker(gieok)
        persona = await user.personas.create(HANA)
        current: dict[tuple[Category, str], str] = {}
        session: str | None = None
        for start in range(0, len(TALK), behind):
            for line in TALK[start : start + behind]:
                model.answer = line.assistant
                turn = await user.chat.send(
                    persona.id, line.user, session_ref=session, account_plan="premium"
                )
                session = turn.session_ref
                assert (turn.changes, turn.state) == ((), (await user.canon.state(persona.id)).facts)
                clock.advance(minutes=2)
                follow(current, line)
            await work(worker, clock)
            shown = {(fact.category, fact.key): fact.value for fact in await user.canon.facts(persona.id)}
            assert shown == current, f"turn {start + behind}"
