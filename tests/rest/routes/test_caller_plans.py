"""What the service enforces whatever a caller's plan says: the purpose of the call, and the token budget."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from gieok import Gieok, Settings
from gieok.engine.plan import make_plan
from gieok.errors import RateLimited
from gieok.memory.canon.records import PersonaDraft
from gieok.plans import read_plan
from tests.rest.routes.conftest import Api
from tests.usage.test_usage import Priced

FOREIGN = {
    "DeletePersona": {"personaId": "request.personaId"},
    "DeleteMemories": {"personaId": "request.personaId"},
    "EndSession": {"sessionRef": "request.sessionRef"},
}


def chat_plan() -> dict[str, Any]:
    return json.loads(read_plan("chat_turn")) | {"name": "mine"}


def without(step_type: str) -> dict[str, Any]:
    plan = chat_plan()
    plan["steps"] = [step for step in plan["steps"] if step["type"] != step_type]
    return plan


@pytest.mark.parametrize("step", FOREIGN)
def test_a_plan_cannot_do_what_its_call_is_not_for(api: Api, step: str) -> None:
    """Not when a session starts, nor in a turn, nor when a session moves to it; and nothing is changed."""
    persona = api.persona()
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    plan = chat_plan()
    plan["steps"].append(
        {"id": "extra", "type": step, "stage": "Persist", "inputs": FOREIGN[step], "metadata": {}}
    )
    place = f"steps[{len(plan['steps']) - 1}].type"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/sessions", {"personaId": persona}),
        ("/chat/send", {"personaId": persona, "message": "안녕"}),
        ("/chat/regenerate", {"sessionId": session}),
        (f"/sessions/{session}/plan", {}),
        (f"/sessions/{session}/resume", {}),
    ]
    for path, body in calls:
        refused = api.post(path, {**body, "plan": plan}, 422)
        assert (refused["error"], refused["at"]) == ("PLAN_INVALID", place)
    assert [each["id"] for each in api.get("/personas")["personas"]] == [persona]


@pytest.mark.parametrize(("step", "at"), [("CheckBudget", "steps"), ("CountUsage", "steps[")])
def test_a_plan_cannot_leave_the_budget_out(api: Api, step: str, at: str) -> None:
    body = {"personaId": api.persona(), "message": "안녕", "plan": without(step)}
    refused = api.post("/chat/send", body, 422)
    assert refused["error"] == "PLAN_INVALID"
    assert refused["at"].startswith(at)


def test_every_shipped_chat_plan_may_be_sent_by_a_caller(gieok: Gieok) -> None:
    for name in ("chat_turn", "chat_turn_whole", "chat_turn_without_state", "turn_memory", "reply_only"):
        assert gieok.user("ana").check_caller_plan(make_plan(json.loads(read_plan(name))))


async def test_the_limit_of_the_service_holds_under_every_plan(settings: Settings) -> None:
    """A plan without a limit, and one with a higher limit."""
    limited = replace(settings, service=replace(settings.service, tokens_per_day=13))
    generous = chat_plan()
    budget = next(step for step in generous["steps"] if step["type"] == "CheckBudget")
    budget["metadata"] = {"tokensPerDay": 1_000_000}
    async with await Gieok.open(limited, model=Priced(), background=False) as gieok:
        user = gieok.user("ana")
        await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        await user.chat.send("hana", "안녕", new_session=True)
        for plan in ("chat_turn", make_plan(generous)):
            with pytest.raises(RateLimited, match="13 a day"):
                await user.chat.send("hana", "안녕", new_session=True, plan=plan)
