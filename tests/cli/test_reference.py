"""The reference pages agree with the program."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from gieok.settings import VARIABLES, setting_origins, unknown_variables
from tests.cli.reference import PAGE, commands, page

SETTINGS_PAGE = PAGE.with_name("settings.md")


def test_the_command_reference_is_up_to_date() -> None:
    """If this fails, run `python -m tests.cli.reference`."""
    current = PAGE.read_text(encoding="utf-8")
    assert current == page(current)


@pytest.mark.parametrize(("path", "command"), list(commands()), ids=str)
def test_every_command_and_option_has_help(path: str, command: click.Command) -> None:
    assert command.help
    assert all(option.help for option in command.params if isinstance(option, click.Option))


def test_the_settings_page_lists_exactly_the_settings(tmp_path: Path) -> None:
    text = SETTINGS_PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(GIEOK_\w+)` \| (?:`(\w+)`|-) \|", text, flags=re.MULTILINE)
    assert sorted(variable for variable, _ in rows) == sorted(VARIABLES)
    assert {name for _, name in rows if name} == set(setting_origins({}, tmp_path))
    assert unknown_variables(dict.fromkeys(re.findall(r"GIEOK_[A-Z_]+", text), "")) == []
