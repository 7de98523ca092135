"""What is known of a request when it is over: no content, no address, nothing that the client made up."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.types import Scope

from gieok.engine import CycleRecord
from gieok.plans import is_shipped

UNMATCHED = "unmatched"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Served(NamedTuple):
    """One request."""

    request_id: str
    method: str
    route: str
    """The template of its path, such as `/api/v1/memory/{memory_id}`."""
    status: int
    """0 where the client had gone before there was an answer."""
    seconds: float
    owner: str | None


class Templates:
    """The template of each route, by the function that answers it: a route of a router inside of another does
    not know the whole of its path."""

    def __init__(self, app: FastAPI) -> None:
        self._paths = {each.endpoint: each.path for each in iter_route_contexts(app.routes)}

    def of(self, scope: Scope) -> str:
        """The template of the route that a request found."""
        return self._paths.get(scope.get("endpoint")) or UNMATCHED


def method_of(served: Served) -> str:
    """The method as a label: a client may send any word."""
    return served.method if served.method in METHODS else "other"


def plan_of(record: CycleRecord) -> str:
    """The plan as a label: a client may bring one and call it anything."""
    return record.plan_name if is_shipped(record.plan_name) else "custom"
