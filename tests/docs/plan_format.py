"""Generates docs/reference/plan_format.md. Update it with `python -m tests.docs.plan_format`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gieok.app import build_registry, offline_model
from gieok.engine import ORDER, ActStep, AnyStep, Data, ReadStep, WriteStep
from tests.docs.generated import DOCS, GeneratedPage, wrapped

Schema = Mapping[str, Any]
ROOMS = {
    "conversation": "Conversation",
    "turns": "Turn memory",
    "sessions": "Sessions",
    "companion": "Companion memory",
    "canon": "Canon",
    "decisions": "Decision memory",
    "documents": "Documents",
    "jobs": "Jobs",
    "requests": "Requests",
    "usage": "Usage",
    "profile": "Profile",
}
"""The packages of steps, in the order of the page."""
KINDS = {"read": ReadStep, "act": ActStep, "write": WriteStep}


def lines() -> Iterator[str]:
    """Every step type, by room."""
    steps = build_registry(offline_model()).steps()
    for room, title in ROOMS.items():
        yield f"## {title}"
        for step in steps:
            if step.__module__.split(".")[2] == room:
                yield from ["", *_step(step)]
        yield ""


def _step(step: AnyStep) -> Iterator[str]:
    yield f"### `{step.type}`"
    yield ""
    yield from wrapped(" ".join((step.__doc__ or "").partition("\n\n")[0].split()))
    yield ""
    kind = next(name for name, base in KINDS.items() if isinstance(step, base))
    yield f"- kind: {kind}"
    stages = " or ".join(stage.value for stage in ORDER if stage in step.stages)
    yield f"- stage: {stages}"
    yield from wrapped(_names(step.inputs_model), "- inputs: ", "  ")
    yield from wrapped(_names(step.output_model), "- outputs: ", "  ")
    rows = list(_metadata(step.metadata_model))
    if not rows:
        yield "- metadata: none"
        return
    yield from ["", "| metadata | value |", "|---|---|", *rows]


def _names(model: type[Data]) -> str:
    """The fields with their types. A question mark means optional."""
    schema = model.model_json_schema(by_alias=True)
    required = schema.get("required", [])
    fields = [
        f"`{name}`{'' if name in required else '?'} ({_type(field, schema)})"
        for name, field in schema.get("properties", {}).items()
    ]
    return ", ".join(fields) or "none"


def _metadata(model: type[Data]) -> Iterator[str]:
    schema = model.model_json_schema(by_alias=True)
    for name, takes in _leaves(schema, schema, ""):
        yield f"| `{name}` | {takes} |"


def _leaves(schema: Schema, whole: Schema, prefix: str) -> Iterator[tuple[str, str]]:
    """Every value in the metadata, with its path."""
    for name, field in schema.get("properties", {}).items():
        inner = _resolved(field, whole)
        if "properties" in inner:
            yield from _leaves(inner, whole, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _type(field, whole)


def _resolved(field: Schema, whole: Schema) -> Schema:
    return whole["$defs"][field["$ref"].rpartition("/")[2]] if "$ref" in field else field


def _type(field: Schema, whole: Schema) -> str:
    """The type of a field in words."""
    if "anyOf" in field:
        return " or ".join(_type(each, whole) for each in field["anyOf"])
    inner = _resolved(field, whole)
    if "enum" in inner:
        return " or ".join(f"`{each}`" for each in inner["enum"])
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    if inner.get("type") == "array":
        return f"list of {_type(inner.get('items', {}), whole)}{_bounds(inner, 'Items')}"
    if inner.get("type") in ("integer", "number"):
        return f"{inner['type']}{_range(inner)}"
    return str(inner.get("format") or inner.get("type") or "any")


def _range(field: Schema) -> str:
    low = f" from {field['minimum']:g}" if "minimum" in field else ""
    low = f" above {field['exclusiveMinimum']:g}" if "exclusiveMinimum" in field else low
    high = f" to {field['maximum']:.0f}" if "maximum" in field else ""
    return low + high


def _bounds(field: Schema, of: str) -> str:
    low, high = field.get(f"min{of}"), field.get(f"max{of}")
    if high is None:
        return ""
    return f", {low} to {high}" if low else f", at most {high}"


PAGE = GeneratedPage(DOCS / "reference" / "plan_format.md", "tests.docs.plan_format", lines)

if __name__ == "__main__":
    PAGE.write()
