"""What stands in a block of the documentation works: it is run here, or its page says why nobody can."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gieok.app import build_registry, offline_model
from gieok.engine import make_plan
from gieok.settings import load_settings
from tests.docs.blocks import EVERY, SHELL, SHOWN, Block, blocks_of
from tests.docs.conftest import Service
from tests.docs.machine import SERVER, SERVICE, Machine
from tests.docs.snippets import run_snippets
from tests.postgres import Postgres

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    ("reference/api.md", "bash"): "tests/rest/routes/test_reference.py",
    ("howto/langgraph.md", "python"): "tests/test_examples.py",
    ("../README.md", "python"): "tests/test_readme.py",
    ("../README.ko.md", "python"): "tests/test_readme.py",
}
"""Blocks that a test of their own runs."""


def to_run(page: str) -> list[Block]:
    """The commands and programs of a page that this module runs."""
    return [
        block
        for block in blocks_of(page)
        if block.is_run and (page, block.language) not in ELSEWHERE and block.language in {*SHELL, "python"}
    ]


def documents(language: str) -> Iterator[Block]:
    return (
        block for page in EVERY for block in blocks_of(page) if block.is_run and block.language == language
    )


def is_program(block: Block) -> bool:
    return block.language in SHELL or "asyncio.run(" in block.text


@pytest.mark.parametrize("page", EVERY)
def test_a_block_is_run_or_says_why_not(page: str) -> None:
    for block in blocks_of(page):
        assert block.language in {*SHELL, *SHOWN, "python", "json", "toml"}, f"{block.place}: who runs this?"
        if block.language in SHOWN and block.mark != "not run":
            assert not block.looks_like_a_command, (
                f"{block.place}: make it a block of sh, or say `not run: why`"
            )
    assert all((ROOT / test).exists() for test in ELSEWHERE.values())


@pytest.mark.xdist_group("docs")  # one service for all of them
@pytest.mark.timeout(300)  # a page starts a dozen programs
@pytest.mark.parametrize("page", [page for page in EVERY if to_run(page)])
async def test_a_page_can_be_followed(
    page: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its top to its end, on a machine where Gieok never ran."""
    blocks = to_run(page)
    text = "".join(block.text for block in blocks)
    service: Service | None = request.getfixturevalue("service") if SERVICE in text else None
    home = service.home if service else tmp_path
    places = {SERVICE: service.url.removeprefix("http://")} if service else {}
    if SERVER in text:
        postgres: Postgres = request.getfixturevalue("postgres")
        places[SERVER] = postgres.new_database()
    machine = Machine(home, places, exported=tmp_path / "exported")
    snippets: list[Block] = []
    for block in blocks_of(page):
        if block.mark == "file":
            machine.put(str(block.said), block.text)
        elif block in blocks and is_program(block):
            machine.run(block)
        elif block in blocks:
            snippets.append(block)
    if snippets:
        _move_in(tmp_path / "snippets", monkeypatch)
        await run_snippets(snippets, (service.url, service.token("kim")) if service else None)


def _move_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("GIEOK_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)


@pytest.mark.parametrize("page", EVERY)
def test_a_file_that_a_page_names_is_used_by_what_follows(page: str) -> None:
    blocks = list(blocks_of(page))
    for number, block in enumerate(blocks):
        if block.mark == "file":
            stem = Path(str(block.said)).stem
            later = [each.text for each in blocks[number + 1 :] if each.is_run]
            assert any(stem in text for text in later), f"{block.place}: nothing uses {block.said}"


@pytest.mark.parametrize("block", list(documents("json")), ids=lambda block: block.place)
def test_a_plan_in_a_page_can_run(block: Block) -> None:
    """And any other document is JSON. A plan with a step of the page's own is checked where it runs."""
    document = json.loads(block.text)
    with suppress(KeyError):
        assert document["steps"]
        if block.mark != "file":
            build_registry(offline_model()).check(make_plan(document))


@pytest.mark.parametrize("block", list(documents("toml")), ids=lambda block: block.place)
def test_settings_in_a_page_are_taken(block: Block, tmp_path: Path) -> None:
    assert tomllib.loads(block.text)
    (tmp_path / "gieok.toml").write_text(block.text, encoding="utf-8")
    load_settings({}, tmp_path)
