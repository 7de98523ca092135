"""Notices in SQL: the kinds of the notices that wait for delivery, by persona."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from gieok.adapters.sql.driver.database import Tx, to_micros
from gieok.errors import StoreDamaged
from gieok.memory.companion.records import NOTICE_KINDS, NoticeKind
from gieok.refs import check_ref


class SqlNoticeStore:
    """The notices of one owner inside one transaction. They hold no content, so nothing here is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def leave(self, persona_id: str, kinds: Collection[NoticeKind], at: datetime) -> None:
        check_ref(persona_id, "personaId")
        rows = [{"persona_id": persona_id, "kind": kind, "created_at": to_micros(at)} for kind in kinds]
        self._tx.run_many("leave_notices", rows)

    def take(self, persona_id: str) -> list[NoticeKind]:
        rows = self._tx.all("take_notices", persona_id=check_ref(persona_id, "personaId"))
        waiting = {kind for (kind,) in rows}
        taken: list[NoticeKind] = [kind for kind in NOTICE_KINDS if kind in waiting]
        if len(taken) != len(waiting):
            raise StoreDamaged("a notice has an unknown kind; restore a backup")
        return taken
