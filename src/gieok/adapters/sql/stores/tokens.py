"""Tokens in SQL. Only the SHA-256 of a token is stored, and tokens are looked up by it.

A token has 256 random bits, so its hash needs neither salt nor stretching. The lookup need not take constant
time: its timing depends on the hash of a guess, and nobody can construct tokens with a chosen hash prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from gieok.access import TokenRecord
from gieok.adapters.sql.driver.database import Row, SystemTx, Tx, from_micros, to_micros


class SqlTokenStore:
    """The tokens of one owner inside one transaction. They have no content, so nothing is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def add(self, record: TokenRecord, digest: bytes) -> None:
        self._tx.run(
            "add_token",
            id=record.id.bytes,
            hash=digest,
            plan=record.account_plan,
            scopes=" ".join(sorted(record.scopes)),
            label=record.label,
            created_at=to_micros(record.created_at),
            expires_at=None if record.expires_at is None else to_micros(record.expires_at),
        )

    def get(self, token_id: UUID) -> TokenRecord | None:
        row = self._tx.one("get_token", id=token_id.bytes)
        return _record(row) if row else None

    def list(self) -> Sequence[TokenRecord]:
        """Oldest first."""
        return [_record(row) for row in self._tx.all("list_tokens")]

    def revoke(self, token_id: UUID, at: datetime) -> bool:
        """Revoke the token. False if it was revoked before or does not exist."""
        return bool(self._tx.run("revoke_token", id=token_id.bytes, revoked_at=to_micros(at)))


def find_token(tx: SystemTx, digest: bytes) -> TokenRecord | None:
    """The token with this hash, of any owner."""
    rows = tx.all("find_token", hash=digest)
    return _record(rows[0]) if rows else None


def find_token_owner(tx: SystemTx, token_id: UUID) -> str | None:
    """The owner of this token."""
    rows = tx.all("find_token_owner", id=token_id.bytes)
    return rows[0][0] if rows else None


def list_every_token(tx: SystemTx) -> Sequence[TokenRecord]:
    """The tokens of all owners, by owner, oldest first."""
    return [_record(row) for row in tx.all("list_every_token")]


@lru_cache(maxsize=1024)
def _record(row: Row) -> TokenRecord:
    """The record of a row, cached because every request needs one."""
    owner, identity, plan, scopes, label, created_at, expires_at, revoked_at = row
    return TokenRecord(
        id=UUID(bytes=identity),
        owner=owner,
        account_plan=plan,
        scopes=frozenset(scopes.split()),
        label=label,
        created_at=from_micros(created_at),
        expires_at=None if expires_at is None else from_micros(expires_at),
        revoked_at=None if revoked_at is None else from_micros(revoked_at),
    )
