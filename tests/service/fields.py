"""Requests that put a text into every field of every operation. The fields come from the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from gieok.plans import read_plan

Schema = Mapping[str, Any]
REFERENCES = {
    "personaId": "persona",
    "sessionId": "session",
    "target": "other",
    "after": "persona",
}
"""The kind of thing that a field refers to. An existing id is used, so that only the text can be refused."""
REPLACES = {"summary": "manualSummary"}
"""A field that replaces another one."""
PATH_KINDS = {
    "memory": "memory",
    "sessions": "session",
    "turns": "turn",
    "jobs": "job",
    "personas": "persona",
    "state": "fact",
    "decisions": "decision",
    "relations": "relation",
    "evidence": "evidence",
    "webhooks": "webhook",
}
"""The kind of thing whose id follows this segment of a path."""
NOTHING = "00000000-0000-0000-0000-000000000000"
"""The id of nothing: a deletion whose header has the text must not succeed, or less is stored."""


@dataclass(frozen=True)
class Attempt:
    """A request with the text in one place."""

    place: str
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None


class Fields:
    """Generates the attempts, with the ids of an owner's things."""

    def __init__(self, document: Schema, ids: Mapping[str, str]) -> None:
        self._document = document
        self._ids = ids

    def attempts(self, text: str) -> Iterator[Attempt]:
        """The text in each place of each operation. `{}` in it becomes the number of the attempt."""
        number = 0
        for path, methods in self._document["paths"].items():
            for method, call in methods.items():
                for attempt in self._of_operation(method.upper(), path, call):
                    yield _numbered(attempt, text.format(number))
                    number += 1

    def _of_operation(self, method: str, path: str, call: Schema) -> Iterator[Attempt]:
        parameters: list[Schema] = call.get("parameters", [])
        known, needed = self._existing_path(path), self._needed(parameters)
        schema = self._body_schema(call)
        body = None if schema is None else self._sample(schema)
        where = f"{method} {path}"
        for each in parameters:
            name = each["name"]
            if each["in"] == "path":
                in_path = self._existing_path(path.replace(f"{{{name}}}", TEXT))
                yield Attempt(f"{where} path {name}", method, in_path, needed, body=body)
            elif each["in"] == "query":
                yield Attempt(f"{where} query {name}", method, known, {**needed, name: TEXT}, body=body)
            else:
                own = (
                    Fields(self._document, dict.fromkeys(self._ids, NOTHING)) if method == "DELETE" else self
                )
                target = own._existing_path(path), own._needed(parameters)
                yield Attempt(f"{where} header {name}", method, *target, {name: TEXT}, body)
        if schema is not None:
            for place, value in self._with_text(schema, body):
                yield Attempt(f"{where} {place}", method, known, needed, body=value)

    def _needed(self, parameters: list[Schema]) -> dict[str, str]:
        return {
            each["name"]: self._ids[REFERENCES.get(each["name"], "persona")]
            for each in parameters
            if each["in"] == "query" and each["required"]
        }

    def _existing_path(self, path: str) -> str:
        parts = path.split("/")
        for position, part in enumerate(parts):
            if part.startswith("{"):
                parts[position] = self._ids[PATH_KINDS[parts[position - 1]]]
        return "/".join(parts)

    def _body_schema(self, call: Schema) -> Schema | None:
        content = call.get("requestBody", {}).get("content", {})
        return content["application/json"]["schema"] if "application/json" in content else None

    def _resolved(self, schema: Schema) -> Schema:
        if "$ref" in schema:
            return self._document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def _sample(self, schema: Schema) -> Any:
        """A valid value: the example of the documentation, with ids of existing things."""
        schema = self._resolved(schema)
        for choice in schema.get("anyOf", ()):
            return self._sample(choice)
        if "examples" in schema:
            return self._with_existing_ids(schema["examples"][0])
        if schema.get("type") == "object":
            needed = schema.get("required", ())
            return {name: self._sample(schema["properties"][name]) for name in needed}
        return schema["enum"][0] if "enum" in schema else self._ids["evidence"]

    def _with_existing_ids(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._with_existing_ids(each) for each in cast(list[Any], value)]
        if not isinstance(value, dict):
            return value
        made = {
            name: self._ids[REFERENCES[name]] if name in REFERENCES else self._with_existing_ids(each)
            for name, each in cast(dict[str, Any], value).items()
        }
        return {**made, "id": self._ids["evidence"]} if made.get("kind") == "evidence" else made

    def _with_text(self, schema: Schema, sample: Any) -> Iterator[tuple[str, Any]]:
        """For each place: its path, and the sample with the text in it."""
        schema = self._resolved(schema)
        for choice in schema.get("anyOf", ()):
            yield from self._with_text(choice, sample)
        if schema.get("type") == "string":
            yield "", TEXT
        if schema.get("type") == "array":
            for place, value in self._with_text(schema["items"], self._sample(schema["items"])):
                yield f"[]{place}", [value]
        if schema.get("type") == "object":
            yield from self._with_text_inside(schema, sample)

    def _with_text_inside(self, schema: Schema, value: Any) -> Iterator[tuple[str, Any]]:
        sample = cast(dict[str, Any], value) if isinstance(value, dict) else {}
        for name, each in schema.get("properties", {}).items():
            inside = sample[name] if name in sample else self._sample_of(each)
            for place, changed in self._with_text(each, inside):
                others = {each: sample[each] for each in sample if each != REPLACES.get(name)}
                yield f".{name}{place}", {**others, name: changed}
        yield ".unknown", {**sample, "unknown": TEXT}
        if schema.get("additionalProperties") is True:
            yield from _plans_with_text()

    def _sample_of(self, schema: Schema) -> Any:
        resolved = [self._resolved(each) for each in schema.get("anyOf", (schema,))]
        return next((self._sample(each) for each in resolved if each.get("type") == "object"), None)


TEXT = "\0the text\0"
"""Placeholder for the text until it is numbered."""


def _plans_with_text() -> Iterator[tuple[str, Any]]:
    """Plans with the text in each kind of place. The document describes a plan as an open object."""
    document = read_plan("chat_turn")
    for key in ("name", "id", "type", "stage"):
        yield f".{key}", _replaced(json.loads(document), key)
    steps = json.loads(document)["steps"]
    for key in ("inputs", "metadata"):
        named = dict.fromkeys(steps[0][key], TEXT) or {"unknown": TEXT}
        yield f".{key}", {**json.loads(document), "steps": [{**steps[0], key: named}, *steps[1:]]}


def _replaced(value: Any, key: str) -> Any:
    """A copy in which every member with this key is the text."""
    if isinstance(value, list):
        return [_replaced(each, key) for each in cast(list[Any], value)]
    if isinstance(value, dict):
        members = cast(dict[str, Any], value).items()
        return {name: TEXT if name == key else _replaced(each, key) for name, each in members}
    return value


def _numbered(attempt: Attempt, text: str) -> Attempt:
    """The attempt with the numbered text, in a header only with its ASCII characters."""
    plain = "".join(filter(str.isascii, text)).strip()

    def put(value: Any) -> Any:
        # "…" in an example stands for content, which must be unique to be stored.
        filled = json.dumps(value).replace(_quoted(TEXT), _quoted(text)).replace(_quoted("…"), plain)
        return json.loads(filled)

    return Attempt(
        attempt.place,
        attempt.method,
        attempt.path.replace(TEXT, text),
        put(attempt.query),
        {name: value.replace(TEXT, plain) for name, value in attempt.headers.items()},
        put(attempt.body),
    )


def _quoted(text: str) -> str:
    return json.dumps(text)[1:-1]
