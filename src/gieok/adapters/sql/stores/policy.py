"""The owner's principles in SQL: one version chain with a fixed root."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from gieok.adapters.sql.driver.database import Tx
from gieok.adapters.sql.stores.chains import SqlChainStore
from gieok.adapters.sql.stores.seals import SealPage
from gieok.engine import Data
from gieok.errors import SchemaMismatch
from gieok.memory.chains import NEW, ChainVersion, VersionDraft
from gieok.memory.decisions.records import Policy, Principles
from gieok.vault import OwnerKeys

KIND = "policy"
ROOT = UUID("5d0f7b86-0c1a-4a35-9d5e-2f5b8a6c7e10")
"""The root of every owner's policy: an owner has one."""
FORM = 1


class _Document(Data):
    """The sealed content."""

    principles: Principles


class SqlPolicyStore:
    """The policy of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._chain = SqlChainStore(tx, keys, KIND)

    def get(self) -> Policy:
        active = self._chain.active((ROOT,))
        return read_policy(active[0]) if active else Policy(version=0, principles=(), created_at=None)

    def append(
        self,
        principles: Sequence[str],
        *,
        version_id: UUID,
        created_at: datetime,
        expected_version: int | None,
    ) -> Policy:
        content = _Document(principles=tuple(principles)).model_dump_json().encode()
        draft = VersionDraft(id=version_id, form=FORM, content=content, created_at=created_at)
        is_first = expected_version is None and not self._chain.active((ROOT,))
        return read_policy(self._chain.append(ROOT, draft, NEW if is_first else expected_version))

    def history(self, *, after: int, limit: int) -> list[Policy]:
        return [read_policy(version) for version in self._chain.history(ROOT, after, limit)]

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next versions."""
        return self._chain.seals(after, limit)


def read_policy(version: ChainVersion) -> Policy:
    """A version of the chain as a policy. SchemaMismatch for the form of a newer program."""
    if version.form > FORM:
        raise SchemaMismatch(
            f"a policy has form {version.form} and this program reads up to form {FORM}; "
            "install a newer Gieok"
        )
    document = _Document.model_validate_json(version.content)
    return Policy(version=version.version, principles=document.principles, created_at=version.created_at)
