"""The pages `sessions` and `session`: conversations, the plan, jobs, and deleting."""

from __future__ import annotations

import re

import pytest

from tests.console.conftest import Browser, text_of
from tests.rest.routes.conftest import Api


@pytest.fixture
def session(api: Api) -> str:
    persona = api.persona("하루")
    sent = api.post(
        "/chat/send", {"personaId": persona, "message": "나 부산으로 이사했어", "waitMemory": True}
    )
    return sent["sessionId"]


def test_an_empty_list_says_what_to_do(browser: Browser) -> None:
    assert "No conversations yet" in browser.get("/sessions")


def test_it_lists_what_the_api_lists(browser: Browser, api: Api, session: str) -> None:
    page = browser.get("/sessions")
    listed = [each["sessionId"] for each in api.get("/sessions")["sessions"]]
    assert re.findall(r'data-session="([^"]+)"', page) == listed == [session]
    jobs = [each["id"] for each in api.get("/jobs")["jobs"]]
    assert re.findall(r'data-job="([^"]+)"', page) == jobs != []


def test_a_session_has_its_log_its_plan_and_its_jobs(browser: Browser, api: Api, session: str) -> None:
    page = browser.get(f"/sessions/{session}")
    shown = text_of(page)
    for message in api.get(f"/sessions/{session}/messages")["messages"]:
        assert message["content"] in shown
    plan = api.get(f"/sessions/{session}")["session"]["lastExecutionPlanHash"]
    assert f"chat_turn {plan[:8]}" in shown
    assert "learned" in shown


def test_an_old_turn_shows_what_it_recalled_and_its_steps(browser: Browser, api: Api) -> None:
    persona = api.persona("하루")
    memory = api.memory(persona, "민수는 부산에서 면접을 본다")["id"]
    sent = api.post("/chat/send", {"personaId": persona, "message": "부산 면접 어땠지?", "waitMemory": True})
    session, turn = sent["sessionId"], sent["turnId"]
    api.post("/chat/send", {"personaId": persona, "sessionId": session, "message": "나는 고양이를 키워"})
    link = f"/console/sessions/{session}/turns/{turn}"
    assert f'href="{link}"' in browser.get(f"/sessions/{session}")
    assert f'href="{link}"' in browser.get(f"/chat/{persona}")
    page = browser.get(f"/sessions/{session}/turns/{turn}")
    cycles = api.get(f"/sessions/{session}/cycles", turnId=turn)["cycles"]
    recall = next(step for step in cycles[0]["steps"] if step["type"] == "RecallMemories")
    assert re.findall(r'data-recalled="([^"]+)"', page) == recall["notes"]["recalled"] == [memory]
    assert "민수는 부산에서 면접을 본다" in text_of(page)
    jobs = api.get(f"/sessions/{session}/cycles", jobId=sent["remembering"]["jobId"])["cycles"]
    steps = [step["id"] for cycle in (*cycles, *jobs) for step in cycle["steps"]]
    assert re.findall(r'data-step="([^"]+)"', page) == steps != []
    assert "고양이" not in text_of(page)
    api.call("DELETE", f"/memory/{memory}")
    assert "deleted since" in text_of(browser.get(f"/sessions/{session}/turns/{turn}"))
    browser.get(f"/sessions/{session}/turns/unknown", 404)


def test_a_turn_without_a_record_says_so(browser: Browser, api: Api) -> None:
    session = api.post("/sessions", {"personaId": api.persona()}, 201)["sessionId"]
    said = [{"id": "m1", "role": "user", "content": "안녕"}]
    api.post(f"/sessions/{session}/messages", {"messages": said, "remember": False})
    assert "turns/m1" not in browser.get(f"/sessions/{session}")
    assert "No record of this turn" in browser.get(f"/sessions/{session}/turns/m1")


def test_a_long_log_has_pages_and_a_marked_message_is_on_its_page(browser: Browser, api: Api) -> None:
    persona = api.persona()
    session = api.post("/sessions", {"personaId": persona}, 201)["sessionId"]
    messages = [{"id": f"m{number}", "role": "user", "content": f"말 {number}."} for number in range(150)]
    api.post(f"/sessions/{session}/messages", {"messages": messages, "remember": False})
    first = browser.get(f"/sessions/{session}")
    assert "말 99." in first
    assert "말 100." not in first
    assert f"/console/sessions/{session}?after=100" in first
    marked = browser.get(f"/sessions/{session}?message=m120")
    assert text_of(re.findall(r"<mark>(.*?)</mark>", marked)[0]) == "말 120."


def test_a_withdrawn_message_is_shown_as_such(browser: Browser, api: Api, session: str) -> None:
    api.call("DELETE", f"/sessions/{session}/turns/last")
    assert browser.get(f"/sessions/{session}").count('class="label">withdrawn') == 2


def test_only_a_failed_job_can_be_retried(browser: Browser, api: Api, session: str) -> None:
    job = api.get("/jobs")["jobs"][0]["id"]
    assert f"/jobs/{job}/retry" not in browser.get("/sessions")
    assert "Changed meanwhile" in browser.post(f"/sessions/jobs/{job}/retry", status=409).text


@pytest.mark.parametrize("cascade", ["", "yes"])
def test_deleting_asks_first(browser: Browser, api: Api, session: str, cascade: str) -> None:
    asked = text_of(browser.get(f"/sessions/{session}/delete"))
    assert "2 messages are deleted" in asked
    browser.post(f"/sessions/{session}/delete", {"cascade": cascade} if cascade else {})
    api.get(f"/sessions/{session}", 404)
