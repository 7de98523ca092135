"""The tools that a model may call inside a graph."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode

from gieok import Gieok
from gieok.interfaces.langgraph import DecisionMemory, DecisionState
from tests.langgraph.graphs import add, compiled, new_graph, run, tool_graph

LOTS = {"statement": "Count by lot", "strength": "lock", "domain": "wms"}


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": str(uuid4())}


async def answers(gieok: Gieok, *calls: dict[str, Any], may_save: bool = False) -> list[str]:
    memory = DecisionMemory(gieok.user("minsu"))
    state = await run(tool_graph(memory, list(calls), may_save=may_save), {"messages": []})
    return [str(message.text) for message in state["messages"][1:]]


@pytest.mark.req("DEC-16", "DEC-14")
async def test_a_model_reads_the_original_text(gieok: Gieok) -> None:
    card = await gieok.user("minsu").decisions.keep_evidence("minutes", "every word\nof the meeting")
    assert await answers(gieok, call("read_evidence", evidence_id=str(card.id))) == [
        "every word\nof the meeting"
    ]


@pytest.mark.req("DEC-16", "DEC-2")
async def test_a_model_saves_only_with_the_saving_tool(gieok: Gieok) -> None:
    decisions = gieok.user("minsu").decisions
    (report,) = await answers(gieok, call("propose_decision", **LOTS))
    assert "nothing is saved yet" in report
    (refused,) = await answers(gieok, call("save_decision", **LOTS))
    assert "not a valid tool" in refused
    assert (await decisions.list()).decisions == ()
    (saved,) = await answers(gieok, call("save_decision", **LOTS), may_save=True)
    (only,) = (await decisions.list(domain="wms")).decisions
    assert saved == f"saved as {only.root_id}, version 1"
    change = {**LOTS, "statement": "Count by box", "root_id": str(only.root_id)}
    (report,) = await answers(gieok, call("propose_decision", **change))
    assert report.endswith("replaces version 1")
    changed, late = await answers(
        gieok,
        call("save_decision", **change, expected_version=1),
        call("save_decision", **LOTS, root_id=str(only.root_id), expected_version=7),
        may_save=True,
    )
    assert changed == f"saved as {only.root_id}, version 2"
    assert "version" in late


@pytest.mark.req("DEC-16", "DEC-3")
async def test_tool_calls_that_are_retried_save_once(gieok: Gieok) -> None:
    """Two calls in one message are two decisions, however often LangGraph runs them."""
    decisions = gieok.user("minsu").decisions
    tools = ToolNode(DecisionMemory(gieok.user("minsu")).tools(may_save=True))
    attempts: list[int] = []

    async def failing_once(state: DecisionState, config: RunnableConfig) -> dict[str, Any]:
        done = await tools.ainvoke(state, config)
        attempts.append(1)
        if len(attempts) == 1:
            raise RuntimeError("power cut")
        return done

    graph = new_graph()
    add(graph, tools=failing_once)
    graph.set_entry_point("tools")
    compiled_graph = compiled(graph, checkpointer=InMemorySaver())
    calls = [call("save_decision", **LOTS), call("save_decision", **LOTS)]
    with pytest.raises(RuntimeError):
        await run(compiled_graph, {"messages": [AIMessage("", tool_calls=calls)]})
    resumed = await run(compiled_graph, None)
    roots = {f"saved as {one.root_id}, version 1" for one in (await decisions.list()).decisions}
    assert {str(message.text) for message in resumed["messages"][1:]} == roots
    assert len(roots) == 2


@pytest.mark.req("DEC-16")
async def test_a_refusal_is_returned_to_the_model(gieok: Gieok) -> None:
    """The run continues, so that the model can correct its call."""
    unknown = str(uuid4())
    relation = {"type": "DEPENDS_ON", "target": unknown}
    results = await answers(
        gieok,
        call("read_evidence", evidence_id=unknown),
        call("propose_decision", **{**LOTS, "domain": "a b"}),
        call("propose_decision", **LOTS, relations=[relation]),
    )
    assert results[0] == f"there is no evidence {unknown}"
    assert "proposal.domain" in results[1]
    assert unknown in results[2]
