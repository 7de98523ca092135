"""The profile of a user in the library and in the database."""

from __future__ import annotations

from typing import Any

import pytest

from gieok import Gieok
from gieok.errors import InputRefused, SealBroken
from gieok.memory.profile import Profile
from tests.behind import Behind


async def test_a_profile_is_set_field_by_field(gieok: Gieok) -> None:
    profile = gieok.user("minsu").profile
    assert await profile.get() == Profile()
    await profile.set(display_name=" 민수 ", timezone="Asia/Seoul")
    assert await profile.set(language="ko") == Profile(
        display_name="민수", timezone="Asia/Seoul", language="ko"
    )
    assert (await profile.set(timezone=None)).timezone is None
    assert await gieok.user("jiyoung").profile.get() == Profile()


@pytest.mark.parametrize("fields", [{"timezone": "Seoul"}, {"language": "fr"}, {"name": "민수"}])
async def test_an_invalid_profile_is_refused(gieok: Gieok, fields: dict[str, Any]) -> None:
    profile = gieok.user("minsu").profile
    with pytest.raises(InputRefused):
        await profile.set(**fields)
    assert await profile.get() == Profile()


@pytest.mark.req("OPS-2")
async def test_a_profile_is_sealed_and_bound_to_its_row(gieok: Gieok, behind: Behind) -> None:
    profile = gieok.user("minsu").profile
    await profile.set(display_name="quokka")
    assert b"quokka" not in bytes(behind.run("SELECT content FROM profiles")[0][0])
    behind.run("UPDATE profiles SET version = version + 1")
    with pytest.raises(SealBroken):
        await profile.get()


@pytest.mark.req("OPS-3")
async def test_a_profile_survives_a_key_rotation_but_no_erasure(gieok: Gieok, behind: Behind) -> None:
    user = gieok.user("minsu")
    await user.profile.set(display_name="민수")
    assert await user.rotate_key() == 1
    assert (await user.profile.get()).display_name == "민수"
    assert (await user.data.erase()).erased["profiles"] == 1
    assert behind.count("profiles") == 0
