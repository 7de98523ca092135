"""The plan check that no plan can leave out, and the plans that serve a session besides its chat plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gieok import Gieok, User, Worker
from gieok.app.session_plans import check_plan
from gieok.engine import ExecutionPlan, make_plan
from gieok.errors import PlanHashMismatch, PlanInvalid
from gieok.memory.canon.records import PersonaDraft
from gieok.plans import former_hashes, load_plan, plan_name, plan_names, read_plan
from gieok.testing.clock import Clock
from tests.behind import Behind
from tests.sessions.conversation import said, work

FORMER_CHAT = "79771399eb3e1033f53ced07f1bb35501b25d409b3ad2bcd7e6ddfbdf942b262"
FORMER_WITHOUT_SUMMARIES = "61258b6ca1440a6d12da4ebe797580cb8d567a883670fb29df96eefcb8f1a1e7"


def changed(name: str, change: Callable[[list[dict[str, Any]]], Any]) -> ExecutionPlan:
    """A shipped plan after a change of its steps."""
    document = json.loads(read_plan(name))
    change(document["steps"])
    return make_plan(document | {"name": "mine"})


def find(steps: list[dict[str, Any]], step_type: str) -> dict[str, Any]:
    return next(step for step in steps if step["type"] == step_type)


async def persona(user: User) -> str:
    return (await user.personas.create(PersonaDraft(name="하나"))).id


@pytest.mark.req("ENG-9")
async def test_a_plan_without_checks_of_its_own_cannot_add_to_the_session_of_another(
    gieok: Gieok, behind: Behind
) -> None:
    """The step that appends compares the hashes in the commit, with or without `ResumeSession`."""
    user = gieok.user("minsu")
    hana = await persona(user)
    first = await user.chat.send(hana, "안녕", wait_memory=True)

    def without_check(steps: list[dict[str, Any]]) -> None:
        steps.remove(find(steps, "ResumeSession"))
        find(steps, "RecallMemories")["inputs"]["accountPlan"] = "request.accountPlan"

    unchecked = changed("chat_turn", without_check)
    with pytest.raises(PlanHashMismatch) as mismatch:
        await user.chat.send(hana, "몰래", session_ref=first.session_ref, plan=unchecked)
    assert (mismatch.value.expected, mismatch.value.actual) == (load_plan("chat_turn").hash, unchecked.hash)
    session = (await user.sessions.get(first.session_ref)).session
    assert (session.last_execution_plan_hash, session.message_count) == (load_plan("chat_turn").hash, 2)
    assert behind.count("messages") == 2
    assert behind.count("turn_memories") == 1


@pytest.mark.req("TURN-1", "TURN-3")
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("items", "request.message"),
        ("items", "call.text"),
        ("items", "exchange.exchanges"),
        ("sessionRef", "request.sessionRef"),
        ("sessionRef", "call.text"),
    ],
)
def test_turn_memory_takes_nothing_but_a_summary_of_this_plan(name: str, source: str) -> None:
    def rewire(steps: list[dict[str, Any]]) -> None:
        find(steps, "PersistMemory")["inputs"][name] = source

    plan = changed("turn_memory", rewire)
    with pytest.raises(PlanInvalid, match="must come from") as refused:
        registry_check(plan)
    number = next(i for i, step in enumerate(plan.steps) if step.type == "PersistMemory")
    assert refused.value.at == f"steps[{number}].inputs.{name}"


def registry_check(plan: ExecutionPlan) -> None:
    from gieok.app import build_registry, offline_model  # noqa: PLC0415  slow, and only here

    check_plan(build_registry(offline_model()), plan)


@pytest.mark.req("ENG-8", "ENG-9")
@pytest.mark.parametrize("name", [name for name in plan_names() if name.startswith("chat_turn")])
def test_a_chat_plan_names_the_plans_that_serve_its_sessions_with_their_hashes(name: str) -> None:
    """So its own hash changes with any of them."""
    named = find(json.loads(read_plan(name))["steps"], "AppendTurn")["metadata"]["plans"]
    refs = [ref for ref in named.values() if ref is not None]
    assert refs
    for ref in refs:
        served_by, _, plan_hash = ref.partition("@")
        assert load_plan(served_by).hash == plan_hash


@pytest.mark.parametrize(
    ("ref", "reason"),
    [
        ("close_session@" + "0" * 64, "the hash of 'close_session' is"),
        ("nothing@" + "0" * 64, "no shipped plan 'nothing'"),
        ("close_session", "should match pattern"),
        (None, "valid string"),
    ],
)
def test_a_named_plan_must_be_the_one_of_this_version(ref: str | None, reason: str) -> None:
    def rename(steps: list[dict[str, Any]]) -> None:
        find(steps, "AppendTurn")["metadata"]["plans"]["close"] = ref

    plan = changed("chat_turn", rename)
    with pytest.raises(PlanInvalid, match=reason) as refused:
        registry_check(plan)
    number = next(i for i, step in enumerate(plan.steps) if step.type == "AppendTurn")
    assert refused.value.at == f"steps[{number}].metadata.plans.close"


def test_every_former_hash_leads_to_a_shipped_plan() -> None:
    current = {load_plan(name).hash for name in plan_names()}
    for plan_hash, name in former_hashes().items():
        assert len(plan_hash) == 64
        assert name in plan_names()
        assert plan_hash not in current
    assert plan_name(FORMER_CHAT) == "chat_turn"
    assert plan_name("0" * 64) is None


@pytest.mark.req("ENG-9")
@pytest.mark.parametrize(
    ("former", "name", "summaries"),
    [(FORMER_CHAT, "chat_turn", 1), (FORMER_WITHOUT_SUMMARIES, "chat_turn_without_summaries", 0)],
)
async def test_a_session_under_a_former_hash_is_closed_by_its_own_plan_but_not_continued(
    gieok: Gieok, behind: Behind, former: str, name: str, summaries: int
) -> None:
    """As an older version left it: the former hash, and no names of plans."""
    user = gieok.user("minsu")
    hana = await persona(user)
    session = (await user.chat.send(hana, "안녕", plan=name)).session_ref
    behind.run(f"UPDATE sessions SET last_plan_hash = '{former}', plans = NULL")
    assert await user.chat.plan_of(session) == name
    with pytest.raises(PlanHashMismatch) as mismatch:
        await user.chat.send(hana, "또 왔어", session_ref=session, plan=name)
    assert (mismatch.value.expected, mismatch.value.actual) == (former, load_plan(name).hash)
    assert behind.count("messages") == 2
    closed = await user.sessions.close(session)
    assert len(closed.jobs) == summaries
    assert (await user.sessions.get(session)).session.ended_at is not None


async def test_the_session_of_a_custom_plan_is_closed_by_the_plan_that_it_names(
    gieok: Gieok, worker: Worker, clock: Clock, behind: Behind
) -> None:
    """By hand, after inactivity and while messages are saved: its custom plan has turned summaries off."""
    user = gieok.user("minsu")
    hana = await persona(user)
    mine = changed("chat_turn_without_summaries", lambda steps: steps.remove(find(steps, "RequireActive")))
    left, closed = [(await user.chat.send(hana, "안녕", plan=mine)).session_ref for _ in range(2)]
    await user.sessions.save_messages(left, said(1, 30))
    await user.sessions.close(closed, wait=True)
    clock.advance(minutes=31)
    await work(worker, clock)
    assert (await user.sessions.get(left)).session.ended_at is not None
    assert behind.run("SELECT count(*) FROM jobs WHERE kind = 'summary'") == [(0,)]
