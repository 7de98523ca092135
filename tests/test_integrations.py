"""Every integration has a how-to page, and is in both READMEs, the changelog, `gieok doctor`, the isolation
table and the service benchmark, or the table here says why not."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from bench import service
from gieok.interfaces.cli.doctor import checks
from gieok.interfaces.cli.texts import doctor
from tests import test_isolation

ROOT = Path(__file__).parents[1]
BY_DOCUMENTS = "runs in the program: its calls are those of documents, which are measured"
OUTSIDE = "a program on the other side of the HTTP API, which is measured"


class Integration(NamedTuple):
    page: str
    changelog: str
    doctor: str | None
    """A package or a word in the line of `gieok doctor`; None for a client, which is installed elsewhere."""
    isolation: str
    benchmark: str
    """A row of the service benchmark, or why there is none."""


INTEGRATIONS = {
    "OpenAI's API": Integration("openai", "/v1/chat/completions", "/v1", "openai", "v1/chat/completions"),
    "MCP": Integration("mcp", "MCP server", "mcp", "mcp", "mcp recall"),
    "LangGraph store": Integration("langgraph_store", "GieokStore", "langgraph", "langgraph", BY_DOCUMENTS),
    "import": Integration("import", "character cards", "character cards", "rest", "personas/import"),
    "Agents SDK": Integration("openai_agents", "GieokSession", "openai-agents", "agents", BY_DOCUMENTS),
    "Google ADK": Integration("google_adk", "GieokMemoryService", "google-adk", "agents", BY_DOCUMENTS),
    "pydantic-ai": Integration("pydantic_ai", "GieokMemory`", "pydantic-ai-slim", "agents", BY_DOCUMENTS),
    "Claude": Integration("claude_memory_tool", "GieokMemoryTool", "anthropic", "claude", BY_DOCUMENTS),
    "TypeScript": Integration("typescript", "TypeScript client", None, "rest", OUTSIDE),
}


@pytest.mark.parametrize("name", INTEGRATIONS)
def test_an_integration_is_in_every_table(name: str) -> None:
    each = INTEGRATIONS[name]
    assert (ROOT / "docs" / "howto" / f"{each.page}.md").is_file()
    for readme in ("README.md", "README.ko.md"):
        assert f"docs/howto/{each.page}." in (ROOT / readme).read_text(encoding="utf-8")
    assert each.changelog in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    shown = (*checks.INTEGRATIONS, *checks.AGENT_PACKAGES, doctor.TEXTS["doctor.integrations_service"][0])
    assert each.doctor is None or any(each.doctor in text for text in shown)
    assert each.isolation in {*test_isolation.INTERFACES, *test_isolation.ELSEWHERE}
    source = Path(service.__file__).read_text(encoding="utf-8")
    assert f'"{each.benchmark}"' in source or each.benchmark in {BY_DOCUMENTS, OUTSIDE}
