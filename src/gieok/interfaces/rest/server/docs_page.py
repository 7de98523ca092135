"""The OpenAPI schema and the Swagger UI page. Both work without internet access."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi
from starlette.responses import JSONResponse

from gieok.errors import NotFound
from gieok.interfaces.rest.gateway.errors import NO_SUCH_ROUTE

SCHEMA_PATH = "/openapi.json"
_ABOUT = """Long-term memory for AI characters and agents.

Every request needs a token, `Authorization: Bearer <token>`; `gieok token create --user NAME` prints one. The
owner of the token owns everything that it creates. Another owner's data is answered exactly like data that
does not exist."""
_ASSETS = {
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
}
_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gieok API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_START = f"""SwaggerUIBundle({{
  url: "{SCHEMA_PATH}",
  dom_id: "#api",
  deepLinking: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
}});
"""


def add_docs(app: FastAPI) -> None:
    """Add `/openapi.json` and `/docs`. They need no token and show no user data."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _schema(app)
        return app.openapi_schema

    async def schema() -> Response:
        return JSONResponse(app.openapi())

    async def page() -> Response:
        return Response(_PAGE, media_type="text/html", headers={"Content-Security-Policy": _POLICY})

    async def asset(name: str) -> Response:
        if name == "start.js":
            return Response(_START, media_type="text/javascript")
        if name not in _ASSETS:
            raise NotFound(NO_SUCH_ROUTE)
        return Response(_asset(name), media_type=_ASSETS[name])

    app.openapi = openapi
    app.add_api_route(SCHEMA_PATH, schema, methods=["GET"], include_in_schema=False)
    app.add_api_route("/docs", page, methods=["GET"], include_in_schema=False)
    app.add_api_route("/docs/{name}", asset, methods=["GET"], include_in_schema=False)


def _schema(app: FastAPI) -> dict[str, Any]:
    """The schema that FastAPI generates from the routes, with bearer authentication for all of them."""
    schema = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
    schema.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    schema["security"] = [{"token": []}]
    return schema


@cache
def _asset(name: str) -> bytes:
    return (files("fastapi_offline") / "static" / name).read_bytes()
