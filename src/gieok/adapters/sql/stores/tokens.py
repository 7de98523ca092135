"""Tokens in SQL. What is kept of a token is its SHA-256, by which it is found.

A token is 256 random bits, so its hash needs neither salt nor stretching. Nor need it be compared in constant
time: the index is asked for the hash of a guess, and how long that takes tells nothing about which guess to
make next, for nobody can choose a token by the beginning of its hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from gieok.access import TokenRecord
from gieok.adapters.sql.driver.database import Row, SystemTx, Tx, from_micros, to_micros


class SqlTokenStore:
    """The tokens of one owner inside one transaction. They hold no content, so nothing here is sealed."""

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
        """False where it was revoked before, which keeps its time, or is not there."""
        return bool(self._tx.run("revoke_token", id=token_id.bytes, revoked_at=to_micros(at)))


def find_token(tx: SystemTx, digest: bytes) -> TokenRecord | None:
    """The token with this hash, whoever's it is."""
    rows = tx.all("find_token", hash=digest)
    return _record(rows[0]) if rows else None


def find_token_owner(tx: SystemTx, token_id: UUID) -> str | None:
    """Whose token this is."""
    rows = tx.all("find_token_owner", id=token_id.bytes)
    return rows[0][0] if rows else None


def list_every_token(tx: SystemTx) -> Sequence[TokenRecord]:
    """Of every owner, by owner and then oldest first."""
    return [_record(row) for row in tx.all("list_every_token")]


@lru_cache(maxsize=1024)
def _record(row: Row) -> TokenRecord:
    """The record of a row, made once while the row stays as it is: every request asks for one."""
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
