"""The moments that mattered, in SQL: sealed, and linked to their episodes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import UUID

from gieok.adapters.sql.driver.database import Row, Tx, from_micros, to_micros
from gieok.memory.companion.records import Emotion, EmotionalMoment
from gieok.memory.companion.rules import check_page
from gieok.refs import check_ref
from gieok.vault import OwnerKeys, Place


class SqlMomentStore:
    """The moments of one owner inside one transaction."""

    def __init__(self, tx: Tx, keys: OwnerKeys) -> None:
        self._tx = tx
        self._keys = keys

    def save(self, moment: EmotionalMoment) -> None:
        self._tx.run(
            "add_moment",
            id=moment.id.bytes,
            persona_id=moment.persona_id,
            memory_id=moment.memory_id.bytes,
            intensity=moment.intensity,
            at=to_micros(moment.at),
            content=self._seal(moment),
        )

    def delete(self, memory_id: UUID) -> None:
        """Remove the moment of a memory, if it has one."""
        self._tx.run("remove_moment", memory_id=memory_id.bytes)

    def list(self, persona_id: str, limit: int, offset: int) -> Sequence[EmotionalMoment]:
        check_ref(persona_id, "personaId")
        check_page(limit, offset)
        rows = self._tx.all("list_moments", persona_id=persona_id, limit=limit, offset=offset)
        return [self._open(row) for row in rows]

    def reseal(self, after: bytes, limit: int) -> tuple[int, bytes | None]:
        """Seal the next moments by id under the current key. Returns how many, and where to go on."""
        rows = self._tx.all("list_moment_seals", after=after, limit=limit)
        for identity, persona_id, memory, intensity, at, sealed in rows:
            place = _place(UUID(bytes=identity), persona_id, UUID(bytes=memory), intensity, at)
            self._tx.run("replace_moment_seal", id=identity, content=self._keys.reseal(place, sealed))
        return len(rows), rows[-1][0] if len(rows) == limit else None

    def _seal(self, moment: EmotionalMoment) -> bytes:
        content = {"emotion": moment.emotion, "moment": moment.moment}
        place = _place(moment.id, moment.persona_id, moment.memory_id, moment.intensity, to_micros(moment.at))
        return self._keys.seal(place, json.dumps(content, ensure_ascii=False).encode())

    def _open(self, row: Row) -> EmotionalMoment:
        identity, persona_id, memory, intensity, at, sealed = row
        moment_id, memory_id = UUID(bytes=identity), UUID(bytes=memory)
        place = _place(moment_id, persona_id, memory_id, intensity, at)
        content = json.loads(self._keys.open(place, sealed))
        return EmotionalMoment(
            id=moment_id,
            persona_id=persona_id,
            memory_id=memory_id,
            emotion=Emotion(content["emotion"]),
            intensity=intensity,
            moment=content["moment"],
            at=from_micros(at),
        )


def _place(moment_id: UUID, persona_id: str, memory_id: UUID, intensity: int, at: int) -> Place:
    """Bound to every column, so that a moment with another link, time or strength does not open."""
    return Place("emotional_moments", "content", f"{moment_id} {persona_id} {memory_id} {intensity} {at}")
