"""Facts in exports from before facts had slots and time."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

import pytest

from gieok import Gieok
from tests.owner_data.world import export, pieces, records, stream_of

OLD: dict[str, Any] = {
    "kind": "fact",
    "personaId": "hana",
    "version": 1,
    "category": "EVENT",
    "importance": 5,
    "provenance": "user",
    "validFrom": "2026-01-05T09:00:00Z",
    "retiredAt": None,
}


def _old(number: int, key: str, value: str, **more: Any) -> dict[str, Any]:
    root = str(UUID(int=number))
    return OLD | {"rootId": root, "versionId": root, "key": key, "value": value} | more


@pytest.mark.req("MIND-7")
async def test_an_old_fact_ends_by_its_kind_and_is_exported_as_it_was(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    line = _old(1, "건강", "감기에 걸림")
    await user.data.import_(pieces(stream_of([line])))
    (fact,) = await user.canon.facts("hana")
    assert (fact.subject, fact.until, fact.source) == ("user", date(2026, 1, 15), None)
    assert [each for each in records(await export(user)) if each["kind"] == "fact"] == [line]


@pytest.mark.req("MIND-6")
async def test_of_old_facts_in_one_slot_the_newer_wins(gieok: Gieok) -> None:
    user = gieok.user("minsu")
    older = _old(1, "boyfriend", "지훈과 사귀는 중", category="RELATIONSHIP")
    newer = _old(2, "partner", "헤어짐", validFrom="2026-01-06T09:00:00Z")
    await user.data.import_(pieces(stream_of([older, newer])))
    assert [fact.value for fact in await user.canon.facts("hana")] == ["헤어짐"]
    (version,) = await user.canon.history("hana", UUID(int=1))
    assert (version.is_active, version.reason, version.retired_at is None) == (False, "merged", False)
