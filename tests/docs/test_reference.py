"""The generated pages are up to date and complete."""

from __future__ import annotations

import pytest

from gieok.app import build_registry, offline_model
from tests.docs import error_list, plan_format
from tests.docs.generated import GeneratedPage


@pytest.mark.parametrize("page", [plan_format.PAGE, error_list.PAGE], ids=lambda page: page.path.name)
def test_a_generated_page_is_up_to_date(page: GeneratedPage) -> None:
    """If this fails, run the command in the marker line of the page."""
    assert page.current == page.expected()


def test_every_step_is_on_the_plan_format_page() -> None:
    """Also the steps of a new room."""
    for step in build_registry(offline_model()).steps():
        assert f"### `{step.type}`\n\n" in plan_format.PAGE.current
        assert step.__doc__


def test_every_error_has_a_remedy_and_every_remedy_an_error() -> None:
    assert {error for error, _ in error_list.tree()} == set(error_list.REMEDIES)
