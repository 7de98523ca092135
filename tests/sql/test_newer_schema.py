"""A process stops writing when another one has migrated its database."""

from __future__ import annotations

import pytest

from gieok import Gieok
from gieok.errors import SchemaMismatch, cause_of
from tests.behind import Behind


async def test_an_older_process_stops_writing_after_a_migration(gieok: Gieok, behind: Behind) -> None:
    user = gieok.user("mina")
    await user.profile.set(display_name="before")
    newest = behind.run("SELECT max(version) FROM schema_migrations")[0][0]
    behind.run(f"INSERT INTO schema_migrations VALUES ({newest + 1}, 'later', 'x', '2027-01-01')")
    try:
        with pytest.raises(Exception, match="newer Gieok") as failed:
            await user.profile.set(display_name="after")
        assert isinstance(cause_of(failed.value), SchemaMismatch)
        with pytest.raises(SchemaMismatch):
            await gieok.database.check()
        assert (await user.profile.get()).display_name == "before", "reading goes on"
    finally:
        behind.run(f"DELETE FROM schema_migrations WHERE version = {newest + 1}")
    await user.profile.set(display_name="again")
    assert (await user.profile.get()).display_name == "again"
