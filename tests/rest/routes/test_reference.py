"""The HTTP reference: it lists every route, and its examples run unchanged."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "api.md"
TEXT = REFERENCE.read_text("utf-8")


def test_the_reference_lists_every_route(api: Api) -> None:
    """With its query parameters, and no route that does not exist."""
    served = {
        f"{method.upper()} {path.removeprefix('/api/v1')}": {
            each["name"] for each in call.get("parameters", []) if each["in"] == "query"
        }
        for path, calls in api.http.get("/openapi.json").json()["paths"].items()
        if path.startswith("/api/v1")
        for method, call in calls.items()
    }
    rows = re.findall(r"^\| `([A-Z]+ /[^`?]+)(?:\?([^`]*))?` \|", TEXT, re.MULTILINE)
    assert {call: set(query.split("&")) - {""} for call, query in rows} == served


def test_the_examples_run(shared: Server, api: Api) -> None:
    """Each prints the answer of the service: JSON, a stream of events, or lines of records."""
    token = api.http.headers["Authorization"].removeprefix("Bearer ")
    environ = {**os.environ, "GIEOK": f"{shared.url}/api/v1", "TOKEN": token, "MEMORY": ""}
    for example in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL):
        command = ["bash", "-euc", example]
        ran = subprocess.run(command, env=environ, capture_output=True, check=True, timeout=60)
        printed = ran.stdout.decode()
        if printed.startswith("event:"):
            assert printed.rstrip().splitlines()[-2] == "event: done"
        elif not printed.startswith('{"kind"'):
            answer = json.loads(printed)
            assert answer["success"], printed
            environ["MEMORY"] = answer.get("memory", {}).get("id", environ["MEMORY"])
