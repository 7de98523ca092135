"""Types of the TypeScript client. After `make clients`, `python -m tests.typescript.generate` makes them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gieok import Gieok
from gieok.interfaces.rest.app import create_app
from gieok.interfaces.rest.gateway.limits import ServiceOptions
from gieok.testing.settings import settings_for
from tests.clients import NODE

ROOT = Path(__file__).parents[2] / "clients" / "typescript"
SCHEMA = ROOT / "src" / "schema.ts"
_GENERATOR = ROOT / "node_modules" / "openapi-typescript" / "bin" / "cli.js"


def is_installed() -> bool:
    """Whether the packages of the client are installed."""
    return _GENERATOR.exists()


async def openapi(folder: Path) -> dict[str, Any]:
    """The OpenAPI schema of the service."""
    settings = settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "config" / "root.key")
    async with await Gieok.open(settings) as gieok:
        return create_app(gieok, ServiceOptions()).openapi()


def generate(schema: dict[str, Any], folder: Path) -> str:
    """The types for a schema. They are the same for equal schemas."""
    given, made = folder / "openapi.json", folder / "schema.ts"
    given.write_text(json.dumps(schema), encoding="utf-8")
    command = [NODE, _GENERATOR, given, "--default-non-nullable=false", "--output", made]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT, timeout=100)
    return made.read_text(encoding="utf-8")


def main() -> None:
    """Update `src/schema.ts`."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        SCHEMA.write_text(generate(asyncio.run(openapi(folder)), folder), encoding="utf-8")


if __name__ == "__main__":
    main()
