"""Every code block of the documentation is run, or its page says why not."""

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
from tests.docs.blocks import ALL_PAGES, NOT_RUN, SHELL, Block, blocks_of
from tests.docs.conftest import Service
from tests.docs.machine import SERVER, SERVICE, Machine
from tests.docs.snippets import run_snippets
from tests.postgres import Postgres

ROOT = Path(__file__).parents[2]
TESTED_ELSEWHERE = {
    ("reference/api.md", "bash"): "tests/rest/routes/test_reference.py",
    ("howto/grow.md", "sh"): "tests/docs/test_grow.py",
    ("howto/grow.md", "python"): "tests/docs/test_grow.py",
    ("howto/langgraph.md", "python"): "tests/test_examples.py",
    ("../README.md", "python"): "tests/test_readme.py",
    ("../README.ko.md", "python"): "tests/test_readme.py",
}
"""Blocks that another test runs."""


def blocks_to_run(page: str) -> list[Block]:
    """The commands and programs of a page that this module runs."""
    return [
        block
        for block in blocks_of(page)
        if block.is_run
        and (page, block.language) not in TESTED_ELSEWHERE
        and block.language in {*SHELL, "python"}
    ]


def documents(language: str) -> Iterator[Block]:
    return (
        block
        for page in ALL_PAGES
        for block in blocks_of(page)
        if block.is_run and block.language == language
    )


def is_program(block: Block) -> bool:
    return block.language in SHELL or "asyncio.run(" in block.text


@pytest.mark.parametrize("page", ALL_PAGES)
def test_a_block_is_run_or_says_why_not(page: str) -> None:
    for block in blocks_of(page):
        assert block.language in {*SHELL, *NOT_RUN, "python", "json", "toml"}, (
            f"{block.location}: no test runs this language"
        )
        if block.language in NOT_RUN and block.mark != "not run":
            assert not block.looks_like_a_command, (
                f"{block.location}: mark it as sh, or add `not run: reason`"
            )
    assert all((ROOT / test).exists() for test in TESTED_ELSEWHERE.values())


@pytest.mark.xdist_group("docs")  # they share one service
@pytest.mark.timeout(300)  # a page starts many programs
@pytest.mark.parametrize("page", [page for page in ALL_PAGES if blocks_to_run(page)])
async def test_all_blocks_of_a_page_run_in_order(
    page: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a home folder where Gieok was never used."""
    blocks = blocks_to_run(page)
    text = "".join(block.text for block in blocks)
    service: Service | None = request.getfixturevalue("service") if SERVICE in text else None
    home = service.home if service else tmp_path
    replacements = {SERVICE: service.url.removeprefix("http://")} if service else {}
    if SERVER in text:
        postgres: Postgres = request.getfixturevalue("postgres")
        replacements[SERVER] = postgres.new_database()
    machine = Machine(home, replacements, exported=tmp_path / "exported")
    snippets: list[Block] = []
    for block in blocks_of(page):
        if block.mark == "file":
            machine.save_file(str(block.argument), block.text)
        elif block in blocks and is_program(block):
            machine.run(block)
        elif block in blocks:
            snippets.append(block)
    if snippets:
        _use_empty_home(tmp_path / "snippets", monkeypatch)
        await run_snippets(snippets, (service.url, service.token("kim")) if service else None)


def _use_empty_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("GIEOK_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)


@pytest.mark.parametrize("page", ALL_PAGES)
def test_a_named_file_is_used_by_a_later_block(page: str) -> None:
    blocks = list(blocks_of(page))
    for number, block in enumerate(blocks):
        if block.mark == "file":
            stem = Path(str(block.argument)).stem
            later = [each.text for each in blocks[number + 1 :] if each.is_run]
            assert any(stem in text for text in later), f"{block.location}: nothing uses {block.argument}"


@pytest.mark.parametrize("block", list(documents("json")), ids=lambda block: block.location)
def test_a_plan_on_a_page_is_valid(block: Block) -> None:
    """Any other document must be JSON. A plan in a named file is checked by the block that uses it."""
    document = json.loads(block.text)
    with suppress(KeyError):
        assert document["steps"]
        if block.mark != "file":
            build_registry(offline_model()).check(make_plan(document))


@pytest.mark.parametrize("block", list(documents("toml")), ids=lambda block: block.location)
def test_settings_on_a_page_are_valid(block: Block, tmp_path: Path) -> None:
    assert tomllib.loads(block.text)
    (tmp_path / "gieok.toml").write_text(block.text, encoding="utf-8")
    load_settings({}, tmp_path)
