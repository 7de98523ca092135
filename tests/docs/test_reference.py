"""The generated pages say what the program has."""

from __future__ import annotations

import pytest

from gieok.app import build_registry, offline_model
from tests.docs import error_list, plan_format
from tests.docs.generated import GeneratedPage


@pytest.mark.parametrize("page", [plan_format.PAGE, error_list.PAGE], ids=lambda page: page.path.name)
def test_a_generated_page_is_up_to_date(page: GeneratedPage) -> None:
    """If this fails, run the module that the mark in the page names."""
    assert page.current == page.as_it_should_be()


def test_every_step_stands_in_the_plan_format() -> None:
    """Also one of a room that the page does not know yet."""
    for step in build_registry(offline_model()).steps():
        assert f"### `{step.type}`\n\n" in plan_format.PAGE.current
        assert step.__doc__


def test_every_error_has_a_remedy_and_no_remedy_is_left_over() -> None:
    assert {error for error, _ in error_list.tree()} == set(error_list.REMEDIES)
