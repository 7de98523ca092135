"""For any answer of a model, a cycle fails as a whole, or what it stores is valid and was really said."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gieok import ExecutionPlan, Gieok, Message, Persona
from gieok.app import User
from gieok.app.background.jobs import JOB_PLANS, JobPlans
from gieok.engine import make_plan
from gieok.errors import ModelUnavailable, NotFound, StepFailed
from gieok.memory.blocks import parse_state
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.decisions.records import DecisionProposal
from gieok.memory.fields import MAX_MESSAGE_CHARS, storable
from gieok.memory.observations import MAX_VALUE_CHARS
from gieok.plans import read_plan
from gieok.testing.contracts.sessions import message
from gieok.testing.hostile_models import MARK, hostile_answers
from gieok.testing.model_server import VALID_ANSWERS, Task
from gieok.testing.settings import settings_for
from gieok.text import count_tokens, language
from tests.models.scripted import Script
from tests.turns.run_turn import run_turn

HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나, 다정한 친구다.")
PERSONA = Persona(name="하나", language="ko", system_prompt="너는 하나, 다정한 친구다.")
AXIS = DecisionProposal(statement="기억은 잠가 둔다", strength="axis", scope="global")
SAID = "내일 중요한 면접이 있어"
CASES = list(hostile_answers())
HINT = 15
UNSAID = ("얼룩말을 샀음", "부산으로 이사함", "사용자의 이름은 김철수", "회사를 그만둠", "지훈과 결혼함")


def test_there_are_many_cases_and_their_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 500


@pytest.mark.req("ENG-6", "ENG-7", "CANON-1", "COMP-2")
@pytest.mark.parametrize("native_output", [True, False], ids=["schema", "tool"])
@pytest.mark.parametrize("task", ["reply", "remember", "session", "hint"])
async def test_no_answer_stores_invalid_data(tmp_path: Path, task: Task, *, native_output: bool) -> None:
    """Every case of a task on one database. Persona and decisions never change."""
    script = Script(VALID_ANSWERS.__getitem__)
    settings = settings_for(f"sqlite:///{tmp_path / 'data' / 'gieok.db'}", tmp_path / "config" / "root.key")
    plans: JobPlans = {**JOB_PLANS, "summary": changed_plan("summarize_session", "summarize", attempts=1)}
    async with await Gieok.open(
        settings, model=script.model(native_output=native_output), job_plans=plans
    ) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA, persona_id="hana")
        await user.decisions.save(AXIS)
        decided = await user.decisions.list()
        # Half of the cases for each kind of output: both go through the same checks.
        cases = [case for case in CASES if case.task == task][native_output::2]
        refused: list[bool] = []
        for number, case in enumerate(cases):
            script.answer = {**VALID_ANSWERS, task: case.text}.__getitem__
            try:
                refused.append(await CHECKS[task](user, f"s{number}"))
            except Exception as failed:
                failed.add_note(case.name)
                raise
            assert await user.personas.get("hana") == hana, case.name
            assert await user.decisions.list() == decided, case.name
    assert {True, False} == set(refused), "both outcomes must occur, or the cases prove nothing"


def changed_plan(name: str, step: str, **metadata: Any) -> ExecutionPlan:
    document = json.loads(read_plan(name))
    next(each for each in document["steps"] if each["id"] == step)["metadata"] |= metadata
    return make_plan(document)


def check_refusal(failed: StepFailed) -> None:
    """The error does not contain the answer."""
    assert isinstance(failed.cause, ModelUnavailable), repr(failed.cause)
    assert MARK not in str(failed)


async def check_chat(user: User, session: str) -> bool:
    """Whether the turn was refused. If not, what it stored must be valid."""
    before = await user.canon.facts("hana")
    try:
        turn = await user.chat.send("hana", SAID, session_ref=session, plan="chat_turn_whole")
    except StepFailed as failed:
        check_refusal(failed)
        with pytest.raises(NotFound):
            await user.sessions.get(session)
        assert await user.canon.facts("hana") == before
        return True
    assert turn.reply.strip()
    assert len(storable(turn.reply)) <= MAX_MESSAGE_CHARS
    assert [each.content for each in await user.sessions.log(session)] == [SAID, turn.reply]
    assert len(turn.changes) <= 20
    for fact in await user.canon.facts("hana"):
        assert fact.value not in UNSAID
        assert len(storable(fact.value)) <= MAX_VALUE_CHARS
        assert fact.provenance in ("user", "model")
    state = await user.canon.state("hana")
    lines = parse_state(state.block)
    assert [line.key for line in lines] == [fact.key for fact in state.facts]
    assert all(line.value.startswith(fact.value) for line, fact in zip(lines, state.facts, strict=True))
    return False


async def check_remembering(user: User, session: str) -> bool:
    """Both ways: in the cycle of the turn, and in turn memory alone."""
    refused = await check_chat(user, session)
    try:
        turn = await run_turn(user, f"{session}-turn", SAID, persona=PERSONA)
    except StepFailed as failed:
        check_refusal(failed)
        assert refused
        return True
    assert turn.summary
    assert len(storable(turn.summary)) <= 300
    assert turn.summary != SAID
    return refused


async def check_session(user: User, session: str) -> bool:
    """Never lost: a summary in the language of the conversation, or an excerpt of the messages.

    A summary that is null says that nothing is worth keeping.
    """
    await user.sessions.start("hana", plan="turn_memory", session_ref=session)
    await user.sessions.save_messages(session, [message(1, SAID)])
    closed = await user.sessions.close(session, wait=True)
    if closed.memory_id is None:
        assert [job.status for job in closed.jobs] == ["done"]
        return False
    memory = await user.companion.get(closed.memory_id)
    assert 1 <= memory.importance <= 10
    assert language(storable(memory.summary), default="ko") == "ko"
    assert len(memory.topics) <= 32
    if closed.is_excerpt:
        assert (memory.origin, memory.summary, memory.topics) == ("excerpt", f"user: {SAID}", ())
    return closed.is_excerpt


async def check_hint(user: User, session: str) -> bool:
    plan = changed_plan("compact_conversation", "compact", tokenBudget=60, chunkTokens=40, hintTokens=HINT)
    talk = [Message(role="user", content=f"{session} {SAID} {number}") for number in range(6)]
    try:
        compacted = await user.decisions.compact(session, talk, plan=plan)
    except StepFailed as failed:
        check_refusal(failed)
        assert await user.decisions.anchors(session) == []
        return True
    assert compacted.anchors
    for anchor in compacted.anchors:
        assert count_tokens(storable(anchor.hint)) <= HINT
        assert len(anchor.hint.splitlines()) == 1
    return False


CHECKS: Mapping[Task, Callable[[User, str], Awaitable[bool]]] = {
    "reply": check_chat,
    "remember": check_remembering,
    "session": check_session,
    "hint": check_hint,
}
