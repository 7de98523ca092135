"""The wire itself: examples that are true, bodies that are strict, failures that are listed."""

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
from gieok.interfaces.rest.routes import chat, decisions, evidence, jobs, me, memory, personas, sessions
from gieok.interfaces.rest.schema.common import Answer, Failure, RequestBody


def examples() -> Iterator[tuple[type[BaseModel], dict[str, Any]]]:
    """Every body and every answer of the wire that has an example of its own."""
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
    """What the service says about itself."""
    app = FastAPI()
    for routes in (chat, sessions, jobs, memory, personas, decisions, evidence, me):
        app.include_router(routes.router)
    return app.openapi()


@pytest.mark.parametrize(("model", "shown"), BODIES, ids=name)
def test_an_example_of_a_body_is_taken(model: type[BaseModel], shown: dict[str, Any]) -> None:
    """And nothing that the body does not know, such as whose it is to be."""
    model.model_validate(shown)
    with pytest.raises(ValidationError):
        model.model_validate({**shown, "userId": "someone"})


@pytest.mark.parametrize(("model", "shown"), ANSWERS, ids=name)
def test_an_example_of_an_answer_is_whole(model: type[BaseModel], shown: dict[str, Any]) -> None:
    """It has every field that such an answer has, in the form that it has there."""
    made = model.model_validate_json(json.dumps(shown))
    assert json.loads(made.model_dump_json(by_alias=True, context={"language": "ko"})) == shown


def test_every_call_says_what_it_takes_answers_and_how_it_fails(openapi: dict[str, Any]) -> None:
    for path, calls in openapi["paths"].items():
        for method, call in calls.items():
            statuses = {int(status) for status in call["responses"]}
            assert statuses >= {401, 413, 422, 429, 500, 503}, f"{method} {path}"
            assert 404 in statuses or "{" not in path, f"{method} {path}"
            assert call["description"], f"{method} {path}"


def test_every_body_and_answer_has_an_example(openapi: dict[str, Any]) -> None:
    """Those that calls name; what lies inside them is shown there."""
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
