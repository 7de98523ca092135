"""The whole OpenAPI document, asked for by a machine: no answer is outside the contract.

Every call gets the systematic cases (each bound, and each way to miss it), then random ones, right and wrong;
then calls follow each other, with names that earlier answers gave. `GIEOK_SOAK` makes the random parts long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.generation.stateful.state_machine import StepOutput

from gieok import Settings
from tests.rest.conftest import GENEROUS, embedded, serving
from tests.service.asker import Asker, Call, Sent

__all__ = ["embedded"]

SOAK = bool(os.environ.get("GIEOK_SOAK"))
EXAMPLES = 150 if SOAK else 8
SCENARIOS = 1_000 if SOAK else 15
STEPS = 15
SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
    HealthCheck.filter_too_much,
]
PATIENCE = 7_200 if SOAK else 600
TAGS = {"memory": 700, "chat": 130, "sessions": 250, "personas": 600, "decisions": 900, "me": 30}
"""The parts of the API, and how many requests each gets at least: who asks nothing finds nothing wrong."""


@pytest.fixture(scope="module")
def asker(embedded: Settings) -> Iterator[Asker]:
    """On SQLite: what is asked here ends before the database, or in what runs on both."""
    with serving(embedded, GENEROUS) as server:
        yield Asker(server)


@pytest.mark.timeout(PATIENCE)
@pytest.mark.parametrize("tag", TAGS)
def test_no_call_answers_outside_the_contract(asker: Asker, tag: str) -> None:
    """Whatever is sent to one call, on purpose or at random."""
    before = asker.asked
    for call in asker.calls():
        if tag in (call.tags or ()):
            for case in asker.systematic(call):
                asker.ask(case)
            _ask_at_random(asker, call)
    assert asker.asked - before >= TAGS[tag]


@pytest.mark.timeout(PATIENCE)
def test_no_sequence_of_calls_answers_outside_the_contract(asker: Asker) -> None:
    """Whatever was called before."""
    before = asker.asked

    class Calls(asker.machine()):
        def setup(self) -> None:
            asker.become_new()  # what a call answers depends on nothing but the calls before it

        def step(self, input: Any) -> StepOutput:  # noqa: A002  schemathesis calls it so
            return StepOutput(asker.ask(input.case), input.case)

    Calls.run(settings=_settings(SCENARIOS, stateful_step_count=STEPS))
    assert asker.asked - before >= 5 * SCENARIOS


def test_a_stream_keeps_to_the_document(asker: Asker) -> None:
    """Not left to chance: few random turns ask for a stream."""
    send = next(call for call in asker.calls() if call.label == "POST /api/v1/chat/send")
    body = {"personaId": asker.name_of("persona"), "message": "안녕, 오늘 면접 봤어", "stream": True}
    answer = asker.ask(cast(Any, send).Case(body=body))
    assert answer.status_code == 200
    assert answer.headers["content-type"][0].startswith("text/event-stream")


def test_every_part_of_the_api_is_asked(asker: Asker) -> None:
    """A call that has no part, or a new one, would not be asked above."""
    assert {tag for call in asker.calls() for tag in call.tags or ("none",)} == TAGS.keys()


def _ask_at_random(asker: Asker, call: Call) -> None:
    @_settings(EXAMPLES)
    @given(asker.random(call, GenerationMode.POSITIVE))
    def ask_rightly(case: Sent) -> None:
        asker.ask_about_known(case)

    @_settings(EXAMPLES)
    @given(asker.random(call, GenerationMode.NEGATIVE))
    def ask_wrongly(case: Sent) -> None:
        asker.ask(case)

    ask_rightly()
    try:
        ask_wrongly()
    except Unsatisfiable:
        # A call without a body, whose path takes any text, cannot be asked in a wrong way.
        assert not call.body


def _settings(examples: int, **more: Any) -> settings:
    """A failure is told as it was found: to make it smaller takes many more requests."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=SLOW,
        **more,
    )
