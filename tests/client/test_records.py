"""The client returns the records of the library, whatever the language of the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from gieok import Memory, MemoryDraft
from gieok.adapters.sql.lifecycle.export.records import MemoryRecord
from gieok.client import GieokClient
from gieok.memory.companion.records import Emotion
from gieok.memory.fields import Language
from tests.rest.conftest import Server

NOW = datetime(2025, 10, 27, 12, tzinfo=UTC)
MEMORY = Memory(
    id=uuid4(),
    persona_id="hana",
    session_ref="s-1",
    summary="영화를 봤다",
    topics=("영화",),
    emotion=Emotion.JOY,
    importance=7,
    tags=(),
    speaker=None,
    origin="manual",
    created_at=NOW,
    occurred_at=NOW,
    archived_at=None,
    version=1,
)


@pytest.mark.parametrize(("language", "name"), [("ko", "기쁨"), ("en", "joy"), (None, "joy")])
def test_a_memory_is_serialised_in_the_language_of_the_context(language: str | None, name: str) -> None:
    context = None if language is None else {"language": language}
    document = MEMORY.model_dump_json(by_alias=True, context=context)
    assert json.loads(document)["emotion"] == name
    assert Memory.model_validate_json(document) == MEMORY


def test_the_api_has_session_id_where_an_export_has_session_ref() -> None:
    api = MEMORY.model_dump(by_alias=True)
    export = MemoryRecord(kind="memory", **dict(MEMORY)).model_dump(by_alias=True)
    assert (api["sessionId"], export["sessionRef"]) == ("s-1", "s-1")
    assert "sessionRef" not in api
    assert "sessionId" not in export


@pytest.mark.parametrize("language", ["ko", "en"])
async def test_the_client_returns_the_memory_of_the_library(service: Server, language: Language) -> None:
    owner = f"owner-{uuid4()}"
    draft = MemoryDraft(persona_id="hana", summary="영화를 봤다", emotion=Emotion.JOY)
    async with GieokClient(service.url, service.token(owner), language=language) as client:
        created = (await client.memory.create(draft)).memory
    assert created == service.run(service.gieok.user(owner).companion.get(created.id))


def test_importing_the_client_loads_no_database_and_no_analyzer() -> None:
    """Programs that only call the service start quickly and need none of it."""
    heavy = ("apsw", "psycopg", "cryptography", "numpy", "mecab_ko", "Stemmer", "fastapi")
    code = f"import sys, gieok.client; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[]"
