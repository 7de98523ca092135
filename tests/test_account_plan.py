"""The account plan of users that name none, and the notices that it brings."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from gieok import Gieok, MemoryDraft, PersonaDraft, Settings
from gieok.engine import make_plan
from gieok.errors import SettingsInvalid
from gieok.memory import fields
from gieok.plans import load_plan, plan_names
from gieok.settings import load_settings, sections

FULL = "메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다."
MORE = "더 많은 메모리를 원하시면 Knock Plus를 이용하세요"


def test_the_setting_names_the_default() -> None:
    assert load_settings({}).account_plan == fields.DEFAULT_ACCOUNT_PLAN == "premium"
    assert load_settings({"GIEOK_ACCOUNT_PLAN": "free"}).account_plan == "free"
    with pytest.raises(SettingsInvalid, match="account_plan must be free or premium"):
        load_settings({"GIEOK_ACCOUNT_PLAN": "gold"})
    assert get_args(sections.AccountPlan) == get_args(fields.AccountPlan)


async def told(gieok: Gieok) -> tuple[list[str], set[str], int]:
    """Notices about seven new memories, the account plans of a token and of sessions, and active memories."""
    user = gieok.user("minsu")
    await user.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    notices: list[str] = []
    for number in range(7):
        saved = await user.companion.create(MemoryDraft(persona_id="hana", summary=f"{number}번째 산책"))
        notices += [notice.korean for notice in saved.notices]
    turn = await user.chat.send("hana", "안녕!")
    started = await user.sessions.start("hana", plan="chat_turn")
    token = (await gieok.tokens.create("minsu")).record
    sessions = [(await user.sessions.get(turn.session_ref)).session, started]
    plans = {token.account_plan, *(session.account_plan for session in sessions)}
    return notices, plans, (await user.companion.counts("hana")).active


async def test_without_a_setting_there_is_no_limit_and_no_notice(settings: Settings) -> None:
    async with await Gieok.open(settings) as gieok:
        assert await told(gieok) == ([], {"premium"}, 7)


@pytest.mark.req("COMP-4", "COMP-5")
async def test_a_service_can_make_every_account_free(settings: Settings) -> None:
    async with await Gieok.open(replace(settings, account_plan="free")) as gieok:
        assert await told(gieok) == ([FULL, MORE, FULL, MORE], {"free"}, 5)


async def test_the_texts_of_notices_are_those_of_the_plan(settings: Settings) -> None:
    """A notice without text is not shown."""
    document = load_plan("create_memory").document
    (create, remember) = document["steps"]
    texts = {**create["metadata"]["notices"], "more": None, "full": {"korean": "꽉 참", "english": "full"}}
    metadata = {**create["metadata"], "activeLimit": {"free": 1, "premium": None}, "notices": texts}
    plan = make_plan({**document, "name": "mine", "steps": [{**create, "metadata": metadata}, remember]})
    async with await Gieok.open(settings) as gieok:
        user = gieok.user("minsu")
        draft = MemoryDraft(persona_id="hana", summary="한강을 걸었음")
        request = {"draft": draft, "accountPlan": "free", "autoArchive": True, "once": None}
        await user.run(plan, request)
        made = await user.run(plan, request)
        notices = made.outputs["create"].model_dump()["kept"]["notices"]
        assert [notice["korean"] for notice in notices] == ["꽉 참"]


def test_the_shipped_plans_have_the_same_texts() -> None:
    """Those of the seed."""
    texts = [
        step.metadata["notices"]
        for name in plan_names()
        for step in load_plan(name).steps
        if "notices" in step.metadata
    ]
    assert len(texts) >= 10
    assert all(each == texts[0] for each in texts)
    assert (texts[0]["full"]["korean"], texts[0]["more"]["korean"]) == (FULL, MORE)


async def test_a_persona_is_found_or_created(gieok: Gieok) -> None:
    personas = gieok.user("minsu").personas
    first = await personas.get_or_create("hana", PersonaDraft(name="하나"))
    assert await personas.get_or_create("hana", PersonaDraft(name="두나")) == first
    assert len(await personas.list()) == 1
