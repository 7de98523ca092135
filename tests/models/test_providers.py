"""Complete turns through the real client library of each provider, against a local server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gieok import Gieok, Settings
from gieok.app.background.jobs import JOB_PLANS
from gieok.engine import CycleRecord, ExecutionPlan, make_plan
from gieok.errors import ModelUnavailable, StepFailed
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.usage import ModelUsage
from gieok.plans import read_plan
from gieok.testing.model_server import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    VALID_ANSWERS,
    Failure,
    ModelServer,
    Request,
)

# Python warns about an invalid escape in the source of a provider's library when it first compiles it.
pytestmark = pytest.mark.filterwarnings("ignore:invalid escape sequence")

HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나, 다정한 친구다.")
SAID = "내일 중요한 면접이 있어"


def changed_plan(name: str, step: str, **metadata: Any) -> ExecutionPlan:
    """A shipped plan with other metadata for one step."""
    document = json.loads(read_plan(name))
    next(each for each in document["steps"] if each["id"] == step)["metadata"] |= metadata
    return make_plan(document)


async def test_a_complete_turn_and_its_session(remote: Settings, server: ModelServer) -> None:
    """One call replies and one remembers: two a turn; one more summarises the session. All are metered."""
    records: list[CycleRecord] = []
    async with await Gieok.open(remote, observe=records.append) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        pieces: list[str] = []
        turn = await user.chat.send(
            hana.id, SAID, wait_memory=True, listen=lambda event: pieces.append(event.data)
        )
        closed = await user.sessions.close(turn.session_ref, wait=True)
        (memory,) = (await user.companion.list(hana.id)).memories
        found = await user.chat.send(hana.id, "면접 얘기 기억나?")
        days = await user.usage()
    assert turn.reply == VALID_ANSWERS["reply"] == "".join(pieces)
    assert len(pieces) > 1
    assert [change.fact.value for change in turn.changes if change.fact] == ["내일 면접이 있음"]
    assert (memory.origin, memory.emotion, memory.importance) == ("summary", "stress", 8)
    assert not closed.is_excerpt
    assert memory.summary in found.prompt.system
    assert turn.usage == ModelUsage(calls=1, input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)
    assert [(day.calls, day.tokens) for day in days] == [(4, 4 * (INPUT_TOKENS + OUTPUT_TOKENS))]
    counted = {ran.id: ran.notes for ran in turn.record.steps if "modelCalls" in ran.notes}
    assert set(counted) == {"call"}
    assert all(notes["inputTokens"] == INPUT_TOKENS for notes in counted.values())
    assert sum(ran.notes.get("modelCalls") == 1 for each in records for ran in each.steps) == 4
    assert {request.key for request in server.requests} == {"k3y"}


@pytest.mark.req("ENG-5")
async def test_the_plan_limits_the_tokens_of_each_answer(remote: Settings, server: ModelServer) -> None:
    document = json.loads(read_plan("chat_turn_whole"))
    limits = {"call": 121, "summarize": 122}
    for step in document["steps"]:
        if step["id"] in limits:
            step["metadata"]["maxOutputTokens"] = limits[step["id"]]
    async with await Gieok.open(remote) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        await user.chat.send(hana.id, SAID, plan=make_plan(document))
    sent_limits = {
        request.task: json.dumps([request.body.get(name) for name in _LIMITS]) for request in server.requests
    }
    assert all(str(limit) in sent_limits[task] for task, limit in (("reply", 121), ("remember", 122)))


_LIMITS = ("max_tokens", "max_completion_tokens", "generationConfig")


@pytest.mark.req("ENG-6")
@pytest.mark.parametrize(
    "failure", ["server_error", "unauthorized", "malformed", "empty", "disconnected", "truncated"]
)
async def test_a_failing_provider_is_reported_and_nothing_is_stored(
    remote: Settings, server: ModelServer, failure: Failure
) -> None:
    async with await Gieok.open(remote) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        server.fail(failure, times=2)
        with pytest.raises(StepFailed) as failed:
            await user.chat.send(hana.id, SAID, session_ref="s")
        assert isinstance(failed.value.cause, ModelUnavailable)
        assert "test-model" in str(failed.value)
        assert not any(word in str(failed.value) for word in ("면접", "k3y", VALID_ANSWERS["reply"][:5]))
        server.failures.clear()
        again = await user.chat.send(hana.id, SAID, session_ref="s")
        assert (again.retrieved, again.state) == ((), ())


@pytest.mark.parametrize("failure", ["server_error", "rate_limited"])
async def test_a_transient_failure_is_retried(
    remote: Settings, server: ModelServer, failure: Failure
) -> None:
    async with await Gieok.open(remote) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        server.fail(failure)
        turn = await user.chat.send(hana.id, SAID)
    assert turn.reply == VALID_ANSWERS["reply"]
    assert next(ran for ran in turn.record.steps if ran.id == "call").notes["modelCalls"] == 2


async def test_a_retry_after_that_is_too_long_is_not_waited_for(
    remote: Settings, server: ModelServer
) -> None:
    server.retry_after = "3600"
    async with await Gieok.open(remote) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        server.fail("rate_limited", times=2)
        with pytest.raises(StepFailed) as failed:
            await user.chat.send(hana.id, SAID)
    cause = failed.value.cause
    assert isinstance(cause, ModelUnavailable)
    assert cause.retry_after == 3600
    assert len(server.requests) == 1


async def test_a_slow_answer_times_out_after_the_plans_limit(remote: Settings, server: ModelServer) -> None:
    plan = changed_plan("chat_turn_whole", "summarize", attempts=1, attemptSeconds=0.2)

    def slow_to_summarize(request: Request) -> str:
        if request.task == "remember":
            server.released.wait()
        return VALID_ANSWERS[request.task]

    server.answer = slow_to_summarize
    async with await Gieok.open(remote) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        with pytest.raises(StepFailed, match=r"did not finish its answer within 0\.2 s"):
            await user.chat.send(hana.id, SAID, plan=plan)


@pytest.mark.req("COMP-3", "OPS-5")
async def test_a_session_summary_has_three_attempts_and_then_becomes_an_excerpt(
    remote: Settings, server: ModelServer
) -> None:
    """Only the plan sets the attempts; the provider's library and the adapter add none."""
    plan = changed_plan("summarize_session", "summarize", backoffSeconds=[0])
    async with await Gieok.open(remote, job_plans={**JOB_PLANS, "summary": plan}) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        turn = await user.chat.send(hana.id, SAID, wait_memory=True)
        before = len(server.requests)
        server.fail("server_error", times=9)
        closed = await user.sessions.close(turn.session_ref, wait=True)
        (memory,) = (await user.companion.list(hana.id)).memories
    assert len(server.requests) - before == 3
    assert (closed.is_excerpt, memory.origin, memory.importance) == (True, "excerpt", 5)


async def test_an_invalid_answer_is_repaired_once(remote: Settings, server: ModelServer) -> None:
    answers = iter(['{"summary": "x"}', VALID_ANSWERS["remember"]])

    def invalid_at_first(request: Request) -> str:
        return next(answers) if request.task == "remember" else VALID_ANSWERS[request.task]

    server.answer = invalid_at_first
    async with await Gieok.open(remote) as gieok:
        user = gieok.user("minsu")
        hana = await user.personas.create(HANA)
        turn = await user.chat.send(hana.id, SAID, plan="chat_turn_whole")
    requests = [request for request in server.requests if request.task == "remember"]
    assert len(requests) == 2
    assert "turns의 개수가" in json.dumps(requests[1].body, ensure_ascii=False)
    assert next(ran for ran in turn.record.steps if ran.id == "summarize").notes["modelCalls"] == 2
