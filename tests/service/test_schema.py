"""Requests generated from the OpenAPI document: no answer violates the contract.

Every operation gets boundary cases, then random valid and invalid requests. Sequences of requests use ids
from earlier answers. `GIEOK_SOAK` makes the random parts long.
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
from tests.service.schema_client import GeneratedCase, Operation, SchemaClient

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
TIMEOUT = 7_200 if SOAK else 600
TAGS = {
    "memory": 700,
    "chat": 130,
    "sessions": 250,
    "personas": 600,
    "decisions": 900,
    "documents": 100,
    "me": 30,
    "webhooks": 60,
    "operator": 5,
}
"""The tags of the API, with the minimum number of requests: a test that sends none cannot fail."""


@pytest.fixture(scope="module")
def client(embedded: Settings) -> Iterator[SchemaClient]:
    """On SQLite only: these requests test what does not depend on the database."""
    with serving(embedded, GENEROUS) as server:
        yield SchemaClient(server)


@pytest.mark.timeout(TIMEOUT)
@pytest.mark.parametrize("tag", TAGS)
def test_every_operation_keeps_the_contract(client: SchemaClient, tag: str) -> None:
    """With boundary cases and random requests."""
    before = client.sent
    for operation in client.operations():
        if tag in (operation.tags or ()):
            for case in client.boundary_cases(operation):
                client.send(case)
            _send_random(client, operation)
    assert client.sent - before >= TAGS[tag]


@pytest.mark.timeout(TIMEOUT)
def test_every_sequence_of_requests_keeps_the_contract(client: SchemaClient) -> None:
    before = client.sent

    class Requests(client.state_machine()):
        def setup(self) -> None:
            client.use_new_owner()  # an answer depends only on the requests of this sequence

        def step(self, input: Any) -> StepOutput:  # noqa: A002  the name in schemathesis
            return StepOutput(client.send(input.case), input.case)

    Requests.run(settings=_settings(SCENARIOS, stateful_step_count=STEPS))
    assert client.sent - before >= 5 * SCENARIOS


def test_a_stream_keeps_the_contract(client: SchemaClient) -> None:
    """Tested explicitly, because few random requests ask for a stream."""
    send = next(each for each in client.operations() if each.label == "POST /api/v1/chat/send")
    body = {"personaId": client.id_of("persona"), "message": "안녕, 오늘 면접 봤어", "stream": True}
    answer = client.send(cast(Any, send).Case(body=body))
    assert answer.status_code == 200
    assert answer.headers["content-type"][0].startswith("text/event-stream")


def test_every_tag_is_tested(client: SchemaClient) -> None:
    """An operation without a tag, or with a new one, would not be tested above."""
    assert {tag for each in client.operations() for tag in each.tags or ("none",)} == TAGS.keys()


def _send_random(client: SchemaClient, operation: Operation) -> None:
    @_settings(EXAMPLES)
    @given(client.random_cases(operation, GenerationMode.POSITIVE))
    def send_valid(case: GeneratedCase) -> None:
        client.send_with_existing_ids(case)

    @_settings(EXAMPLES)
    @given(client.random_cases(operation, GenerationMode.NEGATIVE))
    def send_invalid(case: GeneratedCase) -> None:
        client.send(case)

    send_valid()
    try:
        send_invalid()
    except Unsatisfiable:
        # An operation without a body, whose path accepts any text, has no invalid requests.
        assert not operation.body


def _settings(examples: int, **more: Any) -> settings:
    """Without shrinking: it would take many more requests."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=SLOW,
        **more,
    )
