"""Named requests in SQL: keyed hashes of the name and of the request, and the id that was the answer."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from gieok.adapters.sql.driver.database import Tx, to_micros
from gieok.errors import Conflict
from gieok.memory.requests.records import RequestKey
from gieok.vault import OwnerKeys

SWEPT_AT_ONCE = 100
"""How many old requests a new one takes with it: more than one, so that they never pile up."""


class SqlRequestStore:
    """The named requests of one owner inside one transaction. The hashes outlive a new data key."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def answer(self, request: RequestKey, now: datetime) -> str | None:
        row = self._tx.one("get_request", key=self._key(request), now=to_micros(now))
        if row is None:
            return None
        body, answer = row
        if body != self._body(request):
            raise Conflict(
                "this Idempotency-Key named another request before; give each request a key of its own"
            )
        return answer

    def remember(self, request: RequestKey, answer: str, *, now: datetime, until: datetime) -> None:
        self._tx.run("sweep_requests", now=to_micros(now), limit=SWEPT_AT_ONCE)
        remembered = self._tx.run(
            "remember_request",
            key=self._key(request),
            body=self._body(request),
            answer=answer,
            now=to_micros(now),
            expires_at=to_micros(until),
        )
        if not remembered:
            raise Conflict("a request with this Idempotency-Key was answered meanwhile; ask again")

    def _key(self, request: RequestKey) -> bytes:
        return self._keys.digest("requests.key", request.key)

    def _body(self, request: RequestKey) -> bytes:
        return self._keys.digest("requests.body", sha256(request.body).hexdigest())
