"""The short way to calls that only look something up: the same functions, without the framework in between.

FastAPI finds the route, solves its parameters and writes its answer anew at each request, which takes longer
than a load from memory does. For a call whose path is fixed and that takes nothing but a caller and a query
string, all of that is known beforehand. What is out of the ordinary goes the long way, which knows what to
say of it: a parameter that is wrong, missing, unknown or given twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from inspect import signature
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

from fastapi.params import Query
from fastapi.routing import RouteContext, iter_route_contexts
from pydantic import BaseModel, ValidationError, create_model
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from gieok.app import Gieok
from gieok.interfaces.rest.caller import Reader, caller_of

_GET = {"GET"}


class _Call(NamedTuple):
    """A call that can be reached by the short way."""

    endpoint: Callable[..., Awaitable[BaseModel]]
    caller: str
    """Under which name it takes who calls."""
    query: type[BaseModel]
    known: frozenset[str]
    """What its query string may hold."""


class ShortWay:
    """ASGI middleware in front of the framework."""

    def __init__(self, app: ASGIApp, gieok: Gieok, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._gieok = gieok
        found = ((each.path or "", _call_of(each)) for each in iter_route_contexts(routes))
        self._calls = {path: call for path, call in found if call is not None}

    @property
    def paths(self) -> frozenset[str]:
        """Where the short way leads."""
        return frozenset(self._calls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        call = self._calls.get(scope["path"]) if scope["type"] == "http" else None
        given = _given(call, scope) if call is not None and scope["method"] == "GET" else None
        if call is None or given is None:
            await self._app(scope, receive, send)
            return
        scope["endpoint"] = call.endpoint
        caller = caller_of(scope, self._gieok, "read")
        answer = await call.endpoint(**{call.caller: caller}, **given)
        body = answer.__pydantic_serializer__.to_json(answer, by_alias=True)
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _call_of(route: RouteContext) -> _Call | None:
    """What there is to know of a route beforehand; None where that is not all."""
    endpoint, path = route.endpoint, route.path
    if endpoint is None or path is None or "{" in path or route.methods != _GET:
        return None
    if not route.include_in_schema or route.status_code not in (None, 200) or route.dependencies:
        return None
    hints = get_type_hints(endpoint, include_extras=True)
    parameters = signature(endpoint).parameters
    callers = [name for name in parameters if hints[name] == Reader]
    asked: dict[str, Any] = {
        name: (hints[name], ... if each.default is each.empty else each.default)
        for name, each in parameters.items()
        if any(isinstance(part, Query) for part in get_args(hints[name]))
    }
    nothing_else = len(callers) == 1 and len(callers) + len(asked) == len(parameters)
    if not nothing_else or not issubclass(get_origin(hints["return"]) or hints["return"], BaseModel):
        return None
    model = create_model("Asked", **asked)
    known = frozenset(field.alias or name for name, field in model.model_fields.items())
    return _Call(endpoint, callers[0], model, known)


def _given(call: _Call, scope: Scope) -> dict[str, Any] | None:
    """The parameters of a request; None where the long way is to look at them."""
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    values = dict(pairs)
    if len(values) != len(pairs) or not call.known.issuperset(values):
        return None
    try:
        return vars(call.query.model_validate(values))
    except ValidationError:
        return None
