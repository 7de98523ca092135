"""Idempotency keys in SQL: keyed hashes of the key and of the request, and the sealed result."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256

from gieok.adapters.sql.driver.database import Tx, to_micros
from gieok.adapters.sql.stores.seals import SealedRow, SealPage
from gieok.errors import Conflict
from gieok.memory.requests import RequestKey, TurnRef
from gieok.vault import OwnerKeys, Place

_USED_FOR_ANOTHER = {
    "key": "this Idempotency-Key was used for another request; use a new key for each request",
    "message": "a message with this id and another text exists; use a new id for each message",
}
_DELETED = "deleted"
"""In the place of an answer that was deleted with what it quotes."""
EXPIRED_PER_SAVE = 100
"""How many expired keys a save deletes: more than one, so that they do not accumulate."""


class SqlRequestStore:
    """Idempotency keys of one owner inside one transaction. A new data key does not change the hashes."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def result(self, request: RequestKey, now: datetime) -> str | None:
        row = self._tx.one("get_request", key=self._key(request), now=to_micros(now))
        if row is None:
            return None
        body, plain, sealed = row
        if body != self._body(request):
            raise Conflict(_USED_FOR_ANOTHER[request.kind])
        if sealed is None and plain == _DELETED:
            if request.kind == "message":
                return None  # the log knows whether the message still exists
            raise Conflict(
                "what this Idempotency-Key has stored was withdrawn or deleted since; use a new key"
            )
        if sealed is None:
            return plain  # of an older version
        return self._keys.open(_place(self._key(request)), sealed).decode()

    def save_result(
        self,
        request: RequestKey,
        result: str,
        *,
        now: datetime,
        until: datetime,
        turn: TurnRef | None = None,
        persona_id: str | None = None,
    ) -> None:
        self._tx.run("delete_expired_requests", now=to_micros(now), limit=EXPIRED_PER_SAVE)
        key = self._key(request)
        is_saved = self._tx.run(
            "add_request",
            key=key,
            body=self._body(request),
            sealed=self._keys.seal(_place(key), result.encode()),
            now=to_micros(now),
            expires_at=to_micros(until),
            session_ref=turn.session_ref if turn else None,
            turn_id=turn.turn_id if turn else None,
            persona_id=persona_id,
            after_deletion=int(request.kind == "message"),
        )
        if not is_saved:
            raise Conflict("a concurrent request with this Idempotency-Key was faster; try again")

    def delete_expired(self, now: datetime, limit: int) -> int:
        """Delete the oldest keys that have expired. Returns how many."""
        return self._tx.run("delete_expired_requests", now=to_micros(now), limit=limit)

    def seals(self, after: bytes, limit: int) -> SealPage:
        """The sealed values of the next rows, by key."""
        rows = self._tx.all("list_request_seals", after=after, limit=limit)
        sealed_rows = [
            SealedRow("replace_request_seal", {"key": key}, {"sealed": (_place(key), sealed)})
            for key, sealed in rows
        ]
        return SealPage(sealed_rows, rows[-1][0] if len(rows) == limit else None)

    def _key(self, request: RequestKey) -> bytes:
        return self._keys.digest(f"requests.{request.kind}", request.key)

    def _body(self, request: RequestKey) -> bytes:
        return self._keys.digest("requests.body", sha256(request.body).hexdigest())


def _place(key: bytes) -> Place:
    return Place("requests", "sealed", key.hex())
