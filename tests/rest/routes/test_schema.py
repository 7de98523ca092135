"""The models of the HTTP API: valid examples, strict bodies, documented errors."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from typing import Any, cast

import pytest
from fastapi import FastAPI
from pydantic import BaseModel, ValidationError

from gieok.interfaces.rest import schema
from gieok.interfaces.rest.routes import chat, decisions, me, memory, personas, sessions
from gieok.interfaces.rest.schema.common import Answer, Failure, RequestBody


def examples() -> Iterator[tuple[type[BaseModel], dict[str, Any]]]:
    """Every body and every answer that has an example."""
    for module in pkgutil.iter_modules(schema.__path__, f"{schema.__name__}."):
        for found in vars(importlib.import_module(module.name)).values():
            if isinstance(found, type) and issubclass(found, RequestBody | Answer | Failure):
                extra = cast(dict[str, Any], found.model_config.get("json_schema_extra") or {})
                if extra and found.__module__ == module.name:
                    yield found, extra["examples"][0]


EXAMPLES = list(examples())
BODIES = [(model, shown) for model, shown in EXAMPLES if issubclass(model, RequestBody)]
ANSWERS = [(model, shown) for model, shown in EXAMPLES if issubclass(model, Answer)]


def name(value: object) -> str:
    return value.__name__ if isinstance(value, type) else ""


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    """The OpenAPI document of the service."""
    app = FastAPI()
    for routes in (chat, sessions, memory, personas, decisions, me):
        app.include_router(routes.router)
    return app.openapi()


@pytest.mark.parametrize(("model", "shown"), BODIES, ids=name)
def test_the_example_of_a_body_is_valid(model: type[BaseModel], shown: dict[str, Any]) -> None:
    """With an unknown field, such as another owner, it is refused."""
    model.model_validate(shown)
    with pytest.raises(ValidationError):
        model.model_validate({**shown, "userId": "someone"})


@pytest.mark.parametrize(("model", "shown"), ANSWERS, ids=name)
def test_the_example_of_an_answer_is_complete(model: type[BaseModel], shown: dict[str, Any]) -> None:
    """It has every field, in the form of a real answer in Korean."""
    made = model.model_validate_json(json.dumps(shown))
    assert json.loads(made.model_dump_json(by_alias=True, context={"language": "ko"})) == shown


def test_every_call_documents_its_errors(openapi: dict[str, Any]) -> None:
    for path, calls in openapi["paths"].items():
        for method, call in calls.items():
            statuses = {int(status) for status in call["responses"]}
            assert statuses >= {401, 413, 422, 429, 500, 503}, f"{method} {path}"
            assert 404 in statuses or "{" not in path, f"{method} {path}"
            assert call["description"], f"{method} {path}"


def test_every_body_and_answer_has_an_example(openapi: dict[str, Any]) -> None:
    """Nested models are part of these examples."""
    named = {
        content["schema"]["$ref"].rpartition("/")[2]
        for calls in openapi["paths"].values()
        for call in calls.values()
        for part in (call.get("requestBody", {}), *call["responses"].values())
        for content in part.get("content", {}).values()
        if "$ref" in content["schema"]
    }
    shown = {model.__name__ for model, _ in EXAMPLES}
    assert named - shown == {"Done"}
