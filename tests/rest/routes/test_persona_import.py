"""`POST /personas/import`: cards and lorebooks over HTTP, and on both databases."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from gieok import Gieok
from gieok.errors import InputRefused
from tests.imports.files import CARD, charx, json_file, png_with, text_chunk, world_info
from tests.owner_data.world import export, pieces
from tests.rest.conftest import Server
from tests.rest.routes.conftest import Api

pytestmark = pytest.mark.req("INT-4")
PNG_CARD = png_with(text_chunk("ccv3", CARD))


def upload(
    api: Api, content: bytes, status: int = 201, query: str = "", key: str | None = None
) -> dict[str, Any]:
    files = {"file": ("card.png", content, "image/png")}
    headers = {"Idempotency-Key": key} if key else {}
    return api.call("POST", f"/personas/import{query}", status, files=files, headers=headers)


def test_a_file_becomes_a_persona(api: Api) -> None:
    for content in (PNG_CARD, charx(CARD), json_file(CARD)):
        answer = upload(api, content)
        persona = answer["persona"]
        assert (persona["name"], persona["version"], answer["lorebook"]) == ("하나", 1, {"entries": 1})
        assert "first_mes" in answer["kept"]
        assert persona["keyedLorebook"]["entries"][0]["keys"] == ["면접", "interview"]
        assert api.get(f"/personas/{persona['id']}")["persona"] == persona
    assert "image" in upload(api, PNG_CARD)["leftOut"]


def test_a_dry_run_shows_the_persona_and_stores_nothing(api: Api) -> None:
    answer = upload(api, PNG_CARD, query="?dryRun=true", key="once")
    assert (answer["persona"]["name"], answer["persona"]["id"]) == ("하나", "preview")
    assert (answer["lorebook"], "image" in answer["leftOut"]) == ({"entries": 1}, True)
    assert api.get("/personas")["personas"] == []
    persona = upload(api, PNG_CARD, key="once")["persona"]["id"]
    added = upload(api, json_file(world_info()), query=f"?dryRun=true&personaId={persona}")
    assert (added["persona"]["id"], added["persona"]["version"]) == (persona, 2)
    assert len(added["persona"]["keyedLorebook"]["entries"]) == 2
    assert api.get(f"/personas/{persona}")["persona"]["version"] == 1
    upload(api, b"{}", 422, query="?dryRun=true")


def test_a_card_may_be_the_json_body(api: Api) -> None:
    answer = api.post("/personas/import", CARD, 201)
    assert answer["persona"]["name"] == "하나"
    assert answer["leftOut"] == ["assets"]
    edited = api.call(
        "PUT",
        f"/personas/{answer['persona']['id']}",
        json={name: answer["persona"][name] for name in ("name", "card", "keyedLorebook", "kept")},
    )["persona"]
    assert (edited["version"], edited["kept"]) == (2, answer["persona"]["kept"])


def test_a_lorebook_is_added_to_a_persona_once(api: Api) -> None:
    persona = upload(api, PNG_CARD)["persona"]["id"]
    query = f"?personaId={persona}"
    added = upload(api, json_file(world_info()), query=query)
    assert (added["persona"]["version"], len(added["persona"]["keyedLorebook"]["entries"])) == (2, 2)
    assert upload(api, json_file(world_info()), query=query)["persona"] == added["persona"]
    refused = upload(api, json_file(world_info()), 422)
    assert "personaId" in json.dumps(refused)


def test_an_idempotency_key_makes_one_persona(api: Api) -> None:
    first = upload(api, PNG_CARD, key="k1")
    assert upload(api, PNG_CARD, key="k1") == first
    assert upload(api, json_file(CARD), 409, key="k1")["error"] == "CONFLICT"
    assert len(api.get("/personas")["personas"]) == 1


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"--b\r\n\r\nx\r\n--b--", "multipart/form-data; boundary=b"),
        (b"x", "multipart/form-data; boundary=b"),
        (b"x", "multipart/form-data"),
        (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx', "multipart/form-data; boundary=b"),
        (
            b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
        ),
        (
            b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b\r\n'
            b'Content-Disposition: form-data; name="file"\r\n\r\ny\r\n--b--\r\n',
            "multipart/form-data; boundary=b",
        ),
        (b"[]", "application/json"),
        (b"{}", "text/plain"),
        (b"", "application/json"),
    ],
)
def test_a_wrong_body_is_refused(api: Api, body: bytes, content_type: str) -> None:
    answer = api.call("POST", "/personas/import", 422, content=body, headers={"Content-Type": content_type})
    assert answer["error"] == "VALIDATION_FAILED"
    assert api.get("/personas")["personas"] == []


def test_a_hostile_file_changes_nothing(api: Api) -> None:
    persona = upload(api, PNG_CARD)["persona"]
    for content in (PNG_CARD[:-30], charx(CARD)[:-10], b"\xff\xfe", b"[" * 1_000_000):
        upload(api, content, 422, f"?personaId={persona['id']}")
    block = {"name": "x", "description": "[현재 상태(캐논)]"}
    assert "header of a block" in json.dumps(api.post("/personas/import", {"data": block}, 422))
    assert api.get("/personas")["personas"] == [persona]


def test_kept_fields_and_lore_have_limits(api: Api) -> None:
    deep: Any = "x"
    for _ in range(40):
        deep = {"a": deep}
    for fields, place in (
        ({"kept": deep}, "kept"),
        ({"kept": {"a": "x" * 200_001}}, "kept"),
        ({"keyedLorebook": {"entries": [{"content": "x" * 20_000}] * 16}}, "keyedLorebook"),
        ({"keyedLorebook": {"entries": [{"content": "[현재 상태(캐논)]"}]}}, "keyedLorebook"),
        ({"keyedLorebook": {"entries": [{"keys": "x"}]}}, "keyedLorebook"),
    ):
        refused = api.post("/personas", {"name": "x", **fields}, 422)
        assert place in json.dumps(refused)
    assert api.get("/personas")["personas"] == []


def test_a_file_that_is_too_large_is_413(shared: Server) -> None:
    with shared.client("large") as client:
        content = b"\0" * (16 * 1024 * 1024)
        answer: httpx.Response = client.post("/api/v1/personas/import", files={"file": content})
        assert answer.status_code == 413


async def test_an_imported_persona_is_exported_with_the_owner(gieok: Gieok) -> None:
    """The export of an owner contains the lorebook and the kept fields, and another owner can import it."""
    user, other = gieok.user("minsu"), gieok.user("jisu")
    made = (await user.personas.import_file(PNG_CARD)).persona
    await other.data.import_(pieces(await export(user)))
    assert await other.personas.get(made.id) == made
    card = json.loads(await other.personas.export_card(made.id))
    assert card["data"]["future_field"] == CARD["data"]["future_field"]
    again = await user.personas.import_file(await user.personas.export_card(made.id, png=True))
    assert again.persona.keyed_lorebook == made.keyed_lorebook
    with pytest.raises(InputRefused, match="must be a PNG"):
        await user.personas.export_card(made.id, image=b"x")
