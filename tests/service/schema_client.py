"""Sends the requests that schemathesis generates from the OpenAPI document, and checks the answers."""

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

from gieok.access import ALL_SCOPES
from gieok.errors import InputRefused
from gieok.refs import check_ref
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api
from tests.rest.test_isolation import create_one_of_each
from tests.service.contract import violations
from tests.service.fields import PATH_KINDS

GeneratedCase = Case[Any]
Operation = APIOperation[Any, Any, Any, Any]
REFS = {"personaId": "persona", "sessionId": "session"}
ERASE = "DELETE /api/v1/me"


class SchemaClient:
    """A client of an owner who has one of everything."""

    def __init__(self, server: Server) -> None:
        self._schema: Any = _schema(server)
        self.sent = 0
        self._server = server
        self._session = requests.Session()
        self.use_new_owner()

    def id_of(self, kind: str) -> str:
        """The id of the thing of this kind that the owner has."""
        return self._ids[kind]

    def operations(self) -> Iterator[Operation]:
        """Every operation of the document."""
        for found in self._schema.get_all_operations():
            assert isinstance(found, Ok)
            yield cast(Ok[Operation], found).ok()

    def boundary_cases(self, operation: Operation) -> Iterator[GeneratedCase]:
        """The limits of each field, values just outside of them, and unsupported methods."""
        return self._schema.iter_coverage_cases(
            operation, generation_modes=list(GenerationMode), generation_config=self._schema.config.generation
        )

    def random_cases(self, operation: Operation, mode: GenerationMode) -> SearchStrategy[GeneratedCase]:
        """Valid requests, or invalid ones."""
        return cast(Any, operation).as_strategy(generation_mode=mode)

    def state_machine(self) -> type[APIStateMachine]:
        """Sequences of requests that use ids from earlier answers."""
        return self._schema.as_state_machine()

    def send(self, case: GeneratedCase) -> Response:
        """Send one request. Raises if the answer is wrong, with instructions to reproduce it."""
        if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
            _use_existing_refs(case, self._ids)
        answer = case.call(base_url=self._server.url, session=self._session, headers=self._headers)
        self.sent += 1
        cast(Any, case).validate_response(answer, additional_checks=[check_contract])
        if case.operation.label == ERASE and answer.status_code == 200:
            self.use_new_owner()
        return answer

    def send_with_existing_ids(self, case: GeneratedCase) -> Response:
        """Send one request with ids of existing things in its path."""
        parts = case.operation.path.split("/")
        for before, part in pairwise(parts):
            if part.startswith("{"):
                case.path_parameters[part[1:-1]] = self._ids[PATH_KINDS[before]]
        return self.send(case)

    def use_new_owner(self) -> None:
        """Continue as another owner, who has one of everything too."""
        with self._server.client(f"owner-{uuid4()}", scopes=ALL_SCOPES) as client:
            self._ids = create_one_of_each(Api(client))
            self._headers = {"Authorization": client.headers["Authorization"]}


def check_contract(_context: CheckContext, response: Response, case: GeneratedCase) -> None:
    """Our own check, in addition to those of schemathesis."""
    headers = {name: values[0] for name, values in response.headers.items()}
    problems = "; ".join(violations(response.status_code, headers, response.content))
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
    checks.positive_data_acceptance.enabled = False  # OpenAPI cannot express rules about two fields
    checks.unsupported_method.enabled = False  # an unsupported method is 404 here, like an unknown path
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json", config=config)


def _use_existing_refs(case: GeneratedCase, ids: dict[str, str]) -> None:
    """Random text is rarely a valid persona or session id. Replace an invalid one with an existing id."""
    for fields in (case.body, case.query):
        if isinstance(fields, dict):
            for field, kind in REFS.items():
                value: object = fields.get(field)
                if isinstance(value, str) and value and not _is_ref(value):
                    fields[field] = ids[kind]


def _is_ref(value: str) -> bool:
    try:
        check_ref(value, "")
    except InputRefused:
        return False
    return True
