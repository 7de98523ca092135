"""API tokens: create, list, revoke, authenticate. JWTs of an identity provider are accepted too."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, get_args
from uuid import UUID, uuid4

from gieok.access import ALL_SCOPES, OWNER_SCOPES, NewToken, Principal, Scope, TokenRecord
from gieok.adapters.sql.driver.database import Database
from gieok.adapters.sql.scope import Outbox, OwnerScope, SqlView
from gieok.adapters.sql.stores.tokens import find_token, find_token_owner, list_every_token
from gieok.errors import GieokError, InputRefused, NotFound, OwnerErased, Unauthenticated
from gieok.memory.audit import OPERATOR
from gieok.memory.fields import AccountPlan
from gieok.settings import JwtSettings
from gieok.vault import Vault

if TYPE_CHECKING:
    from gieok.adapters.jwt_verifier import JwtVerifier

_PREFIX = "gk_"
_RANDOM_BYTES = 32
_SHAPE = re.compile(_PREFIX + "[A-Za-z0-9_-]{43}")
MAX_LABEL_CHARS = 128
FAILURE_INTERVAL = timedelta(minutes=1)
"""Time between two audit entries about failed logins with the same token, and with unknown tokens."""
MAX_FAILED_TOKENS = 10_000


class Tokens:
    """The tokens of all owners. A change is effective in every process when the call returns."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        clock: Callable[[], datetime],
        account_plan: AccountPlan,
        outbox: Outbox | None = None,
    ) -> None:
        """`account_plan` is that of tokens and JWTs that name none."""
        self._database = database
        self._vault = vault
        self._clock = clock
        self._outbox = outbox
        self._account_plan: AccountPlan = account_plan
        self._jwts: JwtVerifier | None = None
        self._failures = LoginFailures(clock)

    def accept_jwts(self, settings: JwtSettings) -> None:
        """Accept JWTs of this identity provider as well."""
        from gieok.adapters.jwt_verifier import JwtVerifier  # noqa: PLC0415  few use an identity provider

        self._jwts = JwtVerifier(settings, account_plan=self._account_plan)

    async def create(
        self,
        owner: str,
        *,
        account_plan: AccountPlan | None = None,
        scopes: Collection[Scope] = OWNER_SCOPES,
        label: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewToken:
        """Create a token for an owner. The token itself is returned only here; later only its hash exists.

        `label` is stored unencrypted. The name of an erased owner becomes that of a new owner, with new keys.
        Raises InputRefused for an invalid argument, OwnerErased while an erasure is not finished.
        """
        if owner == OPERATOR:
            raise InputRefused("is reserved; choose another name", at="owner")
        now = self._clock()
        token = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
        record = TokenRecord(
            id=uuid4(),
            owner=owner,
            account_plan=_checked_plan(self._account_plan if account_plan is None else account_plan),
            scopes=_checked_scopes(scopes),
            label=_checked_label(label),
            created_at=now,
            expires_at=_checked_expiry(expires_at, now),
            revoked_at=None,
        )

        def add(view: SqlView) -> None:
            view.tokens.add(record, _digest(token))
            view.audit.add("token.created", str(record.id), now)

        scope = self._scope(owner)
        await asyncio.to_thread(self._vault.readmit, owner)
        await scope.write(add)
        return NewToken(token, record)

    async def list(self, owner: str | None = None) -> Sequence[TokenRecord]:
        """The tokens of one owner or of all, revoked and expired ones included."""
        if owner is None:
            return await self._database.system_read(list_every_token)
        return await self._scope(owner).read(lambda view: view.tokens.list())

    async def revoke(self, token_id: UUID) -> TokenRecord:
        """Revoke a token. Does nothing if it was revoked before. Raises NotFound."""
        owner = await self._database.system_read(lambda tx: find_token_owner(tx, token_id))
        if owner is None:
            raise NotFound("no such token")
        now = self._clock()

        def revoke(view: SqlView) -> TokenRecord | None:
            if view.tokens.revoke(token_id, now):
                view.audit.add("token.revoked", str(token_id), now)
            return view.tokens.get(token_id)

        revoked = await self._scope(owner).write(revoke)
        if revoked is None:
            raise NotFound("no such token")
        return revoked

    async def authenticate(self, token: str) -> Principal:
        """The caller with this token, or with this JWT if JWTs are accepted.

        Raises Unauthenticated without a reason if it is invalid, and adds the failure to the audit trail.
        Each call reads the database, so a token that another process has revoked is refused at once.
        """
        try:
            if self._jwts is not None and not token.startswith(_PREFIX):
                return await self._authenticate_jwt(self._jwts, token)
            found = await self._find(token)
        except Unauthenticated:
            await self._record_failure(OPERATOR, None)
            raise
        if not found.is_valid(self._clock()):
            await self._record_failure(found.owner, found.id)
            raise Unauthenticated
        return found.principal

    async def _find(self, token: str) -> TokenRecord:
        if not _SHAPE.fullmatch(token):
            raise Unauthenticated
        digest = _digest(token)
        found = await self._database.system_read(lambda tx: find_token(tx, digest))
        if found is None:
            raise Unauthenticated
        return found

    async def _record_failure(self, owner: str, token_id: UUID | None) -> None:
        """Add a failed login to the audit trail: once a minute for each token, and for all unknown ones."""
        count = self._failures.count(token_id)
        if not count:
            return
        subject, now = str(token_id or count), self._clock()
        with suppress(GieokError):  # the caller is refused in any case, also if the owner was erased
            await self._scope(owner).write(lambda view: view.audit.add("login.failed", subject, now))

    async def _authenticate_jwt(self, jwts: JwtVerifier, token: str) -> Principal:
        caller = await jwts.verify(token)
        if caller.owner == OPERATOR:
            raise Unauthenticated
        try:
            readmitted_at = await asyncio.to_thread(self._vault.readmitted_at, caller.owner)
        except OwnerErased:  # the identity provider may still issue JWTs for an erased owner
            raise Unauthenticated from None
        if readmitted_at is not None and not jwts.is_issued_after(caller, readmitted_at):
            raise Unauthenticated  # it may be a JWT of the former owner of the name
        return caller

    def _scope(self, owner: str) -> OwnerScope:
        return OwnerScope(self._database, self._vault, owner, outbox=self._outbox)


class LoginFailures:
    """When a failed login was last recorded. Anybody can cause one, so not each of them is written."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._recorded: OrderedDict[UUID | None, tuple[datetime, int]] = OrderedDict()

    def count(self, token_id: UUID | None) -> int:
        """Count a failure. Returns those since the last one that was recorded, or 0 if it is too early."""
        now = self._clock()
        recorded_at, waiting = self._recorded.pop(token_id, (now - FAILURE_INTERVAL, 0))
        is_due = now - recorded_at >= FAILURE_INTERVAL
        self._recorded[token_id] = (now, 0) if is_due else (recorded_at, waiting + 1)
        if len(self._recorded) > MAX_FAILED_TOKENS:
            self._recorded.popitem(last=False)
        return waiting + 1 if is_due else 0


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("ascii")).digest()


def _checked_plan(plan: AccountPlan) -> AccountPlan:
    if plan not in get_args(AccountPlan):
        raise InputRefused(f"must be one of {', '.join(get_args(AccountPlan))}", at="accountPlan")
    return plan


def _checked_scopes(scopes: Collection[Scope]) -> frozenset[Scope]:
    chosen = frozenset(scopes)
    if not chosen or not chosen <= ALL_SCOPES:
        raise InputRefused(f"must be one or more of {', '.join(get_args(Scope))}", at="scopes")
    return chosen


def _checked_label(label: str | None) -> str | None:
    if label is not None and not (1 <= len(label) <= MAX_LABEL_CHARS and label.isprintable()):
        raise InputRefused(f"must have 1 to {MAX_LABEL_CHARS} printable characters", at="label")
    return label


def _checked_expiry(expires_at: datetime | None, now: datetime) -> datetime | None:
    if expires_at is None:
        return None
    if expires_at.tzinfo is None:
        raise InputRefused("must have a time zone", at="expiresAt")
    if expires_at <= now:
        raise InputRefused("must be in the future", at="expiresAt")
    return expires_at.astimezone(UTC)
