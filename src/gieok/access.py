"""Who may call, and for what: the caller that a token stands for, and what is kept of a token."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal, get_args
from uuid import UUID

from gieok.memory.fields import AccountPlan

Scope = Literal["read", "write", "owner"]
"""`read` looks, `write` changes, `owner` acts on everything at once: export, import, erasure."""

ALL_SCOPES: frozenset[Scope] = frozenset(get_args(Scope))


@dataclass(frozen=True)
class Principal:
    """Whose memory a call may use, and for what. A caller with a JWT has no Gieok token."""

    owner: str
    account_plan: AccountPlan
    scopes: frozenset[Scope]
    token_id: UUID | None


@dataclass(frozen=True)
class TokenRecord:
    """What is known of a token. The token itself is not."""

    id: UUID
    owner: str
    account_plan: AccountPlan
    scopes: frozenset[Scope]
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    """None: never."""
    revoked_at: datetime | None
    """None while it is in force."""

    @cached_property
    def principal(self) -> Principal:
        """Whom it lets in while it is in force."""
        return Principal(self.owner, self.account_plan, self.scopes, self.id)

    def is_in_force(self, now: datetime) -> bool:
        """Neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True)
class NewToken:
    """A token at the only moment at which anybody can see it."""

    token: str = field(repr=False)
    record: TokenRecord
