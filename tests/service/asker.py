"""Sends what schemathesis makes of the OpenAPI document, and judges the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast
from uuid import uuid4

import requests
import schemathesis
from hypothesis.strategies import SearchStrategy
from schemathesis import (
    APIOperation,
    BaseSchema,
    Case,
    CheckContext,
    GenerationMode,
    Response,
    SerializationContext,
)
from schemathesis.core.failures import Failure
from schemathesis.core.result import Ok
from schemathesis.generation.stateful.state_machine import APIStateMachine

from gieok.errors import InputRefused
from gieok.refs import check_ref
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api
from tests.rest.test_isolation import things
from tests.service.contract import broken
from tests.service.fields import IN_PATH

Sent = Case[Any]
Call = APIOperation[Any, Any, Any, Any]
REFS = {"personaId": "persona", "sessionId": "session"}
ERASE = "DELETE /api/v1/me"


class Asker:
    """An owner who has one of everything, and asks for anything."""

    def __init__(self, server: Server) -> None:
        self._schema: Any = _schema(server)
        self.asked = 0
        self._server = server
        self._session = requests.Session()
        self.become_new()

    def name_of(self, kind: str) -> str:
        """The name of the one that this owner has."""
        return self._names[kind]

    def calls(self) -> Iterator[Call]:
        """Every call of the document."""
        for found in self._schema.get_all_operations():
            assert isinstance(found, Ok)
            yield cast(Ok[Call], found).ok()

    def systematic(self, call: Call) -> Iterator[Sent]:
        """Each bound of each field, and each way to miss it; each method that the path does not have."""
        return self._schema.iter_coverage_cases(
            call, generation_modes=list(GenerationMode), generation_config=self._schema.config.generation
        )

    def random(self, call: Call, mode: GenerationMode) -> SearchStrategy[Sent]:
        """Right requests, or wrong ones."""
        return cast(Any, call).as_strategy(generation_mode=mode)

    def machine(self) -> type[APIStateMachine]:
        """Calls that follow each other, with names that earlier answers gave."""
        return self._schema.as_state_machine()

    def ask(self, case: Sent) -> Response:
        """Send one request. What is wrong with the answer is raised, with the way to repeat it."""
        if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
            _name_persona_and_session(case, self._names)
        answer = case.call(base_url=self._server.url, session=self._session, headers=self._headers)
        self.asked += 1
        cast(Any, case).validate_response(answer, additional_checks=[in_contract])
        if case.operation.label == ERASE and answer.status_code == 200:
            self.become_new()
        return answer

    def ask_about_known(self, case: Sent) -> Response:
        """The same, with the names of things that exist in the path."""
        parts = case.operation.path.split("/")
        for before, part in pairwise(parts):
            if part.startswith("{"):
                case.path_parameters[part[1:-1]] = self._names[IN_PATH[before]]
        return self.ask(case)

    def become_new(self) -> None:
        """Another owner, who has the same."""
        with self._server.client(f"owner-{uuid4()}") as client:
            self._names = things(Api(client))
            self._headers = {"Authorization": client.headers["Authorization"]}


def in_contract(_context: CheckContext, response: Response, case: Sent) -> None:
    """A check of ours beside those of schemathesis."""
    headers = {name: values[0] for name, values in response.headers.items()}
    problems = "; ".join(broken(response.status_code, headers, response.content))
    if problems:
        raise Failure(operation=case.operation.label, title="Outside the contract", message=problems)


@schemathesis.serializer("application/x-ndjson")
def _as_lines(_context: SerializationContext, value: Any) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()


def _schema(server: Server) -> BaseSchema:
    config = schemathesis.Config()
    config.projects.default.generation.with_security_parameters = False
    checks = config.projects.default.checks
    checks.negative_data_rejection.expected_statuses = ["401", "404", "409", "413", "422"]
    checks.positive_data_acceptance.enabled = False  # the document cannot tell rules that join two fields
    checks.unsupported_method.enabled = False  # 404 here, like everything that is not there
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json", config=config)


def _name_persona_and_session(case: Sent, names: dict[str, str]) -> None:
    """Random text is hardly ever a name: where it could not be one, it becomes one that exists."""
    for fields in (case.body, case.query):
        if isinstance(fields, dict):
            for field, kind in REFS.items():
                value: object = fields.get(field)
                if isinstance(value, str) and value and not _is_ref(value):
                    fields[field] = names[kind]


def _is_ref(value: str) -> bool:
    try:
        check_ref(value, "")
    except InputRefused:
        return False
    return True
