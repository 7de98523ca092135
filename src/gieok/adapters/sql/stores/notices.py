"""Notices in SQL: the kinds of the notices that wait for delivery, by persona."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from gieok.adapters.sql.driver.database import Tx, to_micros
from gieok.errors import StoreDamaged
from gieok.memory.companion.records import NOTICES, Notice
from gieok.refs import check_ref


class SqlNoticeStore:
    """The notices of one owner inside one transaction. They hold no content, so nothing here is sealed."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def leave(self, persona_id: str, notices: Collection[Notice], at: datetime) -> None:
        check_ref(persona_id, "personaId")
        rows = [
            {"persona_id": persona_id, "kind": notice.kind, "created_at": to_micros(at)} for notice in notices
        ]
        self._tx.run_many("leave_notices", rows)

    def take(self, persona_id: str) -> list[Notice]:
        rows = self._tx.all("take_notices", persona_id=check_ref(persona_id, "personaId"))
        kinds = {kind for (kind,) in rows}
        taken = [notice for notice in NOTICES if notice.kind in kinds]
        if len(taken) != len(kinds):
            raise StoreDamaged("a notice has an unknown kind; restore a backup")
        return taken
