"""The pages in the navigation, in their order. A page that is added gets a line here."""

from __future__ import annotations

from typing import NamedTuple

from gieok.access import Scope
from gieok.interfaces.console.session import PREFIX


class NavItem(NamedTuple):
    """A link in the navigation. It is offered to a token with this scope; `nav.NAME` is its text."""

    name: str
    scope: Scope

    @property
    def path(self) -> str:
        return f"{PREFIX}/{self.name}"


NAVIGATION = (
    NavItem("personas", "read"),
    NavItem("chat", "read"),
    NavItem("memories", "read"),
    NavItem("facts", "read"),
    NavItem("sessions", "read"),
    NavItem("decisions", "read"),
    NavItem("plans", "read"),
    NavItem("data", "owner"),
    NavItem("operator", "operator"),
)
