"""The profile of an owner in SQL: one sealed document."""

from __future__ import annotations

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.errors import SchemaMismatch, StoreDamaged
from gieok.memory.profile import Profile
from gieok.vault import OwnerKeys, Place

FORM = 1
"""The current format version of the document."""


class SqlProfileStore:
    """The profile of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def get(self) -> Profile:
        row = self._tx.one("get_profile")
        if row is None:
            return Profile()
        form, version, content = row
        if form > FORM:
            raise SchemaMismatch(
                f"the profile has format {form}, and this version reads up to {FORM}; upgrade Gieok"
            )
        try:
            return Profile.model_validate_json(self._keys.open(_place(form, version), content))
        except ValueError:
            raise StoreDamaged("the profile does not match its format; restore a backup") from None

    def save(self, profile: Profile) -> None:
        row = self._tx.one("lock_profile")
        version = row[1] + 1 if row else 1
        content = profile.model_dump_json(by_alias=True).encode()
        self._tx.run(
            "save_profile",
            form=FORM,
            version=version,
            content=self._keys.seal(_place(FORM, version), content),
        )

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed profile."""
        row = self._tx.one("get_profile")
        if row is None:
            return SealPage([], None)
        form, version, content = row
        key = {"form": form, "version": version}
        values = {"content": (_place(form, version), content)}
        return SealPage([SealedRow("replace_profile_seal", key, values)], None)


def _place(form: int, version: int) -> Place:
    return Place("profiles", "content", f"profile {form}", version)
