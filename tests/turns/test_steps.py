"""The steps of turn memory in a real cycle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from gieok import Gieok, Persona, Settings
from gieok.adapters.models.offline import OfflineModel
from gieok.adapters.sql.scope import OwnerScope
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import InputRefused, ModelUnavailable, PlanInvalid, StepFailed
from gieok.memory.conversation.records import Prompt, Reply
from gieok.memory.observations import Conversation, TurnNote, Understood, VerbatimLimit
from gieok.plans import read_plan
from gieok.testing.contracts.turns import item, save
from tests.behind import Behind
from tests.turns.run_turn import run_turn

HANA = Persona(name="하나", language="ko", system_prompt="너는 하나야. 다정한 친구처럼 말해.")


def changed(change: Callable[[dict[str, Any]], None]) -> ExecutionPlan:
    """The shipped plan with one change."""
    document = json.loads(read_plan("turn_memory"))
    change({step["id"]: step for step in document["steps"]} | {"plan": document})
    return make_plan(document)


def without(*ids: str) -> ExecutionPlan:
    def remove(steps: dict[str, Any]) -> None:
        steps["plan"]["steps"] = [step for step in steps["plan"]["steps"] if step["id"] not in ids]

    return changed(remove)


@pytest.mark.req("TURN-3", "TURN-2", "ENG-1")
async def test_a_turn_is_recalled_by_a_later_turn_of_its_session(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    first = await run_turn(user, "s1", "내일 중요한 면접이 있어", persona=HANA)
    second = await run_turn(user, "s1", "면접에서는 뭘 물어볼까?", persona=HANA)
    assert [memory.id for memory in second.recalled] == [first.memory_id]
    assert second.recalled[0].summary == first.summary
    assert second.prompt is not None
    assert first.summary is not None
    assert first.summary in second.prompt.system


@pytest.mark.req("ENG-1", "TURN-2")
async def test_without_its_step_nothing_is_summarised_or_stored(gieok: Gieok, behind: Behind) -> None:
    user = gieok.user("minsu")
    result = await run_turn(
        user,
        "s1",
        "내일 중요한 면접이 있어",
        persona=HANA,
        plan=without("exchange", "summarize", "persist", "count"),
    )
    assert (result.summary, result.memory_id) == (None, None)
    assert (behind.count("turn_memories"), behind.count("search_scopes")) == (0, 0)
    assert result.reply


@pytest.mark.req("TURN-2", "TURN-3")
async def test_summarising_alone_stores_nothing(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    plan = without("persist")
    result = await run_turn(user, "s1", "내일 중요한 면접이 있어", persona=HANA, plan=plan)
    assert result.summary
    assert (await run_turn(user, "s1", "면접", persona=HANA, plan=plan)).recalled == ()


@pytest.mark.req("TURN-4", "ENG-3")
@pytest.mark.parametrize("stage", ["PromptAssemble", "LLMCall", "PostProcess", "Persist"])
def test_retrieval_is_allowed_in_context_select_only(stage: str) -> None:
    from gieok.app import build_registry, offline_model  # noqa: PLC0415  one test needs them

    def move(steps: dict[str, Any]) -> None:
        steps["retrieve"]["stage"] = stage

    with pytest.raises(PlanInvalid, match=f"RetrieveMemory may stand in ContextSelect, not in {stage}"):
        build_registry(offline_model()).check(changed(move))


@pytest.mark.req("ENG-5")
@pytest.mark.parametrize("top_k", [None, 0, -3, 2.5, "5", True, 10_000])
async def test_an_invalid_top_k_in_the_plan_is_refused(gieok: Gieok, top_k: Any) -> None:
    def change(steps: dict[str, Any]) -> None:
        steps["retrieve"]["metadata"] = {} if top_k is None else {"topK": top_k}

    with pytest.raises(PlanInvalid, match=r"metadata\.topK"):
        await run_turn(gieok.user("minsu"), "s1", "안녕", persona=HANA, plan=changed(change))


@pytest.mark.req("ENG-5")
async def test_top_k_of_the_plan_is_obeyed(gieok: Gieok) -> None:
    def two(steps: dict[str, Any]) -> None:
        steps["retrieve"]["metadata"]["topK"] = 2

    await save(gieok.scope("minsu"), *(item("면접", minute=n) for n in range(4)))
    result = await run_turn(gieok.user("minsu"), "s", "면접", persona=HANA, plan=changed(two))
    assert len(result.recalled) == 2


class BrokenModel(OfflineModel):
    """Answers, and then cannot condense."""

    def __init__(self, made: TurnNote | Exception) -> None:
        super().__init__()
        self.made = made

    async def remember(
        self, conversation: Conversation, *, summary_chars: int, max_keywords: int, verbatim: VerbatimLimit
    ) -> Understood:
        if isinstance(self.made, Exception):
            raise self.made
        return Understood(turns=(self.made,), observations=())


RAW = "나는 내일 오후 세 시에 판교에 있는 작은 IT 스타트업에서 아주 중요한 면접을 보기로 했어"


@pytest.mark.req("TURN-1", "TURN-9", "ENG-6")
@pytest.mark.parametrize(
    "made",
    [
        TurnNote(summary=RAW, keywords=()),
        TurnNote(summary=f"사용자: {RAW.upper()}!", keywords=()),
        TurnNote(summary=RAW[:-1], keywords=()),
        TurnNote(summary=f"사용자가 {RAW[5:45]} 말함", keywords=()),
        TurnNote(summary="x" * 301, keywords=()),
        TurnNote(summary="짧은 요약", keywords=tuple(str(number) for number in range(9))),
        ModelUnavailable("away"),
        ValueError("bug"),
    ],
    ids=[
        "the message itself",
        "the whole message inside",
        "without its last letter",
        "a long verbatim run",
        "too long",
        "too many keywords",
        "away",
        "a bug",
    ],
)
async def test_a_summary_that_breaks_the_plan_fails_the_cycle(
    settings: Settings, made: TurnNote | Exception
) -> None:
    async with await Gieok.open(settings, model=BrokenModel(made)) as gieok:
        user = gieok.user("minsu")
        with pytest.raises(StepFailed) as failed:
            await run_turn(user, "s1", RAW, persona=HANA)
        assert failed.value.step == "summarize"
        found = await gieok.scope("minsu").read(
            lambda view: (view.turns.search("s1", RAW, 10), view.sessions.get("s1"))
        )
        assert found == ([], None)


class StreamingModel(OfflineModel):
    """Waits in the middle of its reply until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.speaking = asyncio.Event()

    async def reply(self, prompt: Prompt, emit: Callable[[str], None]) -> Reply:
        emit("잠깐")
        self.speaking.set()
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.req("ENG-6")
async def test_a_turn_cancelled_during_the_model_call_stores_nothing(settings: Settings) -> None:
    model = StreamingModel()
    heard: list[str] = []
    async with await Gieok.open(settings, model=model) as gieok:
        user = gieok.user("minsu")
        task = asyncio.create_task(
            run_turn(user, "s1", "안녕", persona=HANA, listen=lambda event: heard.append(event.data))
        )
        await model.speaking.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert heard == ["잠깐"]
        assert await gieok.scope("minsu").read(lambda r: r.sessions.get("s1")) is None


async def test_the_reply_is_streamed(gieok: Gieok) -> None:
    heard: list[str] = []
    result = await run_turn(
        gieok.user("minsu"),
        "s1",
        "요즘 너무 지쳐... 회사 일이 힘들어",
        persona=HANA,
        listen=lambda event: heard.append(event.data),
    )
    assert "".join(heard) == result.reply


@pytest.mark.parametrize("owner", ["", " ", "a\x00b", "../etc", "a" * 129, "a\nb", "\u202eabc"])
def test_a_hostile_owner_is_refused(owner: str) -> None:
    with pytest.raises(InputRefused, match="owner"):
        OwnerScope(None, None, owner)  # pyright: ignore[reportArgumentType]  refused before either is used


@pytest.mark.req("TURN-1")
@pytest.mark.parametrize(
    ("summary", "message", "is_copy"),
    [
        ("사용자가 인사함", "안녕", False),
        ("안녕!", "안녕!", True),
        ("사용자가 안녕이라고 말함", "안녕", False),
        ("사용자가 내일 면접을 앞둠", "내일 면접이 있어서 너무 떨려 어떡하지", False),
        ("내일 면접이 있어서 너무 떨려", "내일 면접이 있어서 너무 떨려 어떡하지", True),
        ("The user moved to Busan.", "I moved to Busan last week with my sister", False),
        ("I moved to Busan last week with", "I moved to Busan last week with my sister", True),
    ],
)
def test_a_summary_may_not_repeat_most_of_a_message(summary: str, message: str, *, is_copy: bool) -> None:
    assert VerbatimLimit(chars=20, share=0.7).is_copy(summary, message) is is_copy
