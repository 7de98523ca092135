"""The pages about plans show the shipped plans with their hashes, and what differs between two."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from gieok.plans import load_plan, plan_names
from tests.console.conftest import Browser, text_of
from tests.console.test_decisions import graph_in


def rows(page: str) -> dict[str, str]:
    """The kind of each step that differs."""
    return dict(re.findall(r'data-node="(\w+)" data-kind="(\w+)"', page))


def test_all_plans_are_listed_with_their_hashes(browser: Browser) -> None:
    page = browser.get("/plans")
    assert re.findall(r'id="plan-(\w+)"', page) == list(plan_names())
    assert re.findall(r'title="([0-9a-f]{64})"', page) == [load_plan(name).hash for name in plan_names()]


@pytest.mark.parametrize("name", ["chat_turn", "close_session", "save_decision"])
def test_the_graph_has_the_stages_steps_and_inputs_of_the_plan(browser: Browser, name: str) -> None:
    plan = load_plan(name)
    page = browser.get(f"/plans/{name}")
    graph = graph_in(page)
    assert f'<code id="hash">{plan.hash}</code>' in page
    assert [node["id"] for node in graph["nodes"]] == [step.id for step in plan.steps]
    assert re.findall(r'data-node="(\w+)"', page) == [step.id for step in plan.steps]
    assert {node["id"]: node["parent"] for node in graph["nodes"]} == {
        step.id: f"stage {step.stage}" for step in plan.steps
    }
    assert [group["label"] for group in graph["groups"]] == list(
        dict.fromkeys(step.stage.value for step in plan.steps)
    )
    inputs = {
        (source.split(".")[0], step.id)
        for step in plan.steps
        for source in step.inputs.values()
        if not source.startswith("request.")
    }
    assert {(edge["source"], edge["target"]) for edge in graph["edges"]} == inputs
    columns = {node["id"]: node["column"] for node in graph["nodes"]}
    assert all(columns[source] < columns[target] for source, target in inputs)


def test_every_shipped_plan_can_be_drawn(browser: Browser) -> None:
    for name in plan_names():
        places = [(node["column"], node["row"]) for node in graph_in(browser.get(f"/plans/{name}"))["nodes"]]
        assert len(places) == len(set(places))


@pytest.mark.parametrize("name", ["none", "chat_turn.json", "..", "%2Fetc%2Fpasswd", "former_hashes.txt"])
def test_only_shipped_plans_can_be_read(browser: Browser, name: str) -> None:
    assert browser.http.get(f"/console/plans/{name}").status_code in (303, 404)
    browser.get(f"/plans/diff?old=chat_turn&new={name}", 404)


def test_the_difference_of_two_plans(browser: Browser) -> None:
    old, new = load_plan("chat_turn"), load_plan("chat_turn_without_state")
    before, after = ({step.id: step for step in plan.steps} for plan in (old, new))
    expected = {
        **dict.fromkeys(before.keys() - after.keys(), "removed"),
        **dict.fromkeys(after.keys() - before.keys(), "added"),
        **{id_: "changed" for id_ in before.keys() & after.keys() if before[id_] != after[id_]},
    }
    page = browser.get("/plans/diff?old=chat_turn&new=chat_turn_without_state")
    assert expected
    assert rows(page) == expected
    assert {node["id"] for node in graph_in(page)["nodes"]} == before.keys() | after.keys()


def test_a_plan_that_is_pasted_is_compared(browser: Browser) -> None:
    document: dict[str, Any] = json.loads(json.dumps(load_plan("save_decision").document))
    document["steps"][0]["metadata"] = {**document["steps"][0].get("metadata", {}), "extra": {"deep": "값"}}
    form: dict[str, str | list[str]] = {"old": "save_decision", "text": json.dumps(document)}
    page = browser.post("/plans/diff", form, 200).text
    assert rows(page) == {document["steps"][0]["id"]: "changed"}
    assert "metadata.extra.deep" in page
    assert '"값"' in text_of(page)
    same = browser.get("/plans/diff?old=save_decision&new=save_decision")
    assert rows(same) == {}
    assert "the same plan" in same


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "x"}', '{"name": "<script>", "version": 1}'])
def test_an_invalid_plan_is_named_beside_its_field(browser: Browser, text: str) -> None:
    page = browser.post("/plans/diff", {"old": "chat_turn", "text": text}, 422).text
    assert 'id="error-text"' in page
    assert "<script>" not in page
