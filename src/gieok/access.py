"""Access to the service: scopes, the authenticated caller, and the records of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal, get_args
from uuid import UUID

from gieok.memory.fields import AccountPlan

Scope = Literal["read", "write", "owner", "operator"]
"""`read` reads, `write` changes, `owner` exports, imports and erases all data of the owner.

`operator` reads what concerns the service as a whole: metrics and jobs of all owners, without content.
"""

ALL_SCOPES: frozenset[Scope] = frozenset(get_args(Scope))
OWNER_SCOPES: frozenset[Scope] = ALL_SCOPES - {"operator"}
"""The scopes of a token or JWT that names none."""


@dataclass(frozen=True)
class Principal:
    """An authenticated caller: the owner and the scopes. `token_id` is None for a JWT."""

    owner: str
    account_plan: AccountPlan
    scopes: frozenset[Scope]
    token_id: UUID | None
    issued_at: float | None = field(default=None, compare=False)
    """When a JWT was issued, in seconds since 1970. None if it does not say so, and for a token."""


@dataclass(frozen=True)
class TokenRecord:
    """The stored record of a token, without the token itself."""

    id: UUID
    owner: str
    account_plan: AccountPlan
    scopes: frozenset[Scope]
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    """None: it never expires."""
    revoked_at: datetime | None
    """None: it is not revoked."""

    @cached_property
    def principal(self) -> Principal:
        """The caller that the token authenticates."""
        return Principal(self.owner, self.account_plan, self.scopes, self.id)

    def is_valid(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True)
class NewToken:
    """A new token with its record. The token cannot be shown again later."""

    token: str = field(repr=False)
    record: TokenRecord
