"""A service on each kind of database, or on SQLite only."""

from tests.rest.conftest import embedded
from tests.rest.routes.conftest import shared

__all__ = ["embedded", "shared"]
