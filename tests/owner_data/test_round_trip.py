"""An export is complete, and an import restores it unchanged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gieok import Gieok, MemoryDraft, Settings
from gieok.app import User
from gieok.app.background.worker import Worker
from gieok.errors import Conflict, OwnerErased
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.observations import Category
from gieok.testing.clock import Clock
from gieok.testing.contracts.sessions import message
from tests.chat.test_two_cycles import Recorder
from tests.owner_data.world import FRIEND, KINDS, export, fill, lines, pieces, records, stream_of
from tests.sessions.conversation import PLAN, MoodyModel, begin, job_plans, memories, said, work
from tests.turns.run_turn import run_turn


async def moved(gieok: Gieok, of: str = "minsu", to: str = "jiyoung") -> User:
    """A user with everything imported from another one."""
    user = gieok.user(to)
    await user.data.import_(pieces(await export(gieok.user(of))))
    return user


@pytest.mark.req("OPS-3")
async def test_an_export_imported_into_another_user_gives_the_same_export(gieok: Gieok) -> None:
    minsu, jiyoung = gieok.user("minsu"), gieok.user("jiyoung")
    await fill(minsu)
    taken = await export(minsu)
    result = await jiyoung.data.import_(pieces(taken))
    assert set(result.counts) == KINDS
    assert (sum(result.counts.values()), result.unchanged) == (len(lines(taken)) - 2, 0)
    assert records(await export(jiyoung)) == records(taken)
    assert {line["kind"] for line in records(taken)} == KINDS


@pytest.mark.req("OPS-3")
async def test_imported_data_is_found_as_before(settings: Settings) -> None:
    """Indexes, counts and heads are rebuilt under the other user's keys."""
    async with await Gieok.open(settings, clock=Clock()) as gieok:
        minsu = gieok.user("minsu")
        await fill(minsu)
        await same_answers(minsu, await moved(gieok))


async def same_answers(minsu: User, jiyoung: User) -> None:
    reads: list[Callable[[User], Awaitable[object]]] = [
        lambda user: user.companion.search("hana", "면접 이야기"),
        lambda user: user.companion.search("hana", "면접 이야기", kinds="all"),
        lambda user: user.companion.counts("hana"),
        lambda user: user.companion.load("hana"),
        lambda user: user.companion.moments("hana"),
        lambda user: user.canon.state("hana"),
        lambda user: user.canon.facts("hana"),
        lambda user: user.personas.versions("hana"),
        lambda user: user.sessions.get("talk"),
        lambda user: user.sessions.moves("turns"),
        lambda user: user.decisions.context("wms", q="창고"),
        lambda user: user.decisions.anchors("talk"),
    ]
    for read in reads:
        assert await read(jiyoung) == await read(minsu)
    recalled = [await run_turn(user, "turns", "면접", persona=FRIEND, plan=PLAN) for user in (minsu, jiyoung)]
    assert [len(turn.recalled) for turn in recalled] == [1, 1]
    (axis, _) = (await minsu.decisions.list()).decisions
    assert await jiyoung.decisions.history(axis.root_id) == await minsu.decisions.history(axis.root_id)
    assert await jiyoung.decisions.impact(axis.root_id) == await minsu.decisions.impact(axis.root_id)


async def test_imported_data_can_be_continued(gieok: Gieok) -> None:
    """Chains get their next version, a retired fact is set again, and a session gets its next message."""
    await fill(gieok.user("minsu"))
    user = await moved(gieok)
    await user.canon.set_fact("hana", Category.HABIT, "커피", "끊음")
    changed = await user.canon.set_fact("hana", Category.GOAL, "취업", "합격함")
    assert changed.fact is not None
    assert (changed.outcome, changed.fact.version) == ("superseded", 3)
    assert (await user.personas.edit("hana", PersonaDraft(name="하나"))).version == 3
    assert (await user.sessions.save_messages("open", said(4, 5))).message_count == 5
    draft = MemoryDraft(persona_id="hana", summary="합격 소식을 들음.", importance=10)
    assert (await user.companion.create(draft, account_plan="free")).memory.archived_at is None
    assert (await user.companion.counts("hana")).active == 3


@pytest.mark.req("OPS-3")
async def test_an_import_is_idempotent(gieok: Gieok) -> None:
    await fill(gieok.user("minsu"))
    taken = await export(gieok.user("minsu"))
    jiyoung = gieok.user("jiyoung")
    await jiyoung.data.import_(pieces(taken))
    before = await export(jiyoung)
    again = await jiyoung.data.import_(pieces(taken))
    assert (again.counts, again.unchanged) == ({}, len(lines(taken)) - 2)
    assert records(await export(jiyoung)) == records(before)
    acts = [entry.action for entry in await jiyoung.audit.list()]
    assert acts.count("owner.imported") == 1


async def test_an_owner_may_import_their_own_export(gieok: Gieok) -> None:
    """Data that changed since the export keeps its present state."""
    minsu = gieok.user("minsu")
    await fill(minsu)
    taken = await export(minsu)
    await minsu.sessions.save_messages("open", said(4, 6))
    await minsu.sessions.close("open")
    await minsu.canon.set_fact("hana", Category.GOAL, "취업", "합격함")
    assert (await minsu.data.import_(pieces(taken))).counts == {}
    assert (await minsu.sessions.get("open")).session.message_count == 6
    assert (await minsu.canon.state("hana")).facts[0].value == "합격함"


async def test_two_owners_can_be_merged(gieok: Gieok) -> None:
    """Imported data is added to existing data, and memories keep their order."""
    await fill(gieok.user("minsu"))
    jiyoung = gieok.user("jiyoung")
    for summary in ("바다에 다녀옴.", "산에 다녀옴."):
        await jiyoung.companion.create(
            MemoryDraft(persona_id="hana", summary=summary, topics=(summary,)), account_plan="premium"
        )
    own = [each.id for each in (await jiyoung.companion.list("hana", status="all")).memories]
    await moved(gieok)
    both = [each.id for each in (await jiyoung.companion.list("hana", status="all")).memories]
    theirs = [each.id for each in (await gieok.user("minsu").companion.list("hana", status="all")).memories]
    assert [each for each in both if each in theirs] == theirs
    assert [each for each in both if each in own] == own


@pytest.mark.req("OPS-3")
async def test_an_id_with_other_content_is_a_conflict_and_nothing_is_stored(gieok: Gieok) -> None:
    minsu, jiyoung = gieok.user("minsu"), gieok.user("jiyoung")
    await fill(minsu)
    taken = records(await export(minsu))
    await jiyoung.data.import_(pieces(stream_of(taken)))
    before = records(await export(jiyoung))
    changes = {
        "profile": {"displayName": "다른 이름"},
        "persona": {"card": "다른 사람"},
        "memoryConfig": {"activeLimit": 2},
        "fact": {"value": "다른 값"},
        "session": {"startedAt": "2020-01-01T00:00:00Z"},
        "planMove": {"movedAt": "2020-01-01T00:00:00Z"},
        "message": {"content": "다른 말"},
        "turnMemory": {"summary": "다른 요약"},
        "memory": {"summary": "다른 요약"},
        "memoryVersion": {"summary": "다른 요약"},
        "moment": {"moment": "다른 순간"},
        "evidence": {"content": "다른 원문"},
        "policy": {"principles": ["다른 원칙"]},
        "decision": {"statement": "다른 결정"},
        "relation": {"type": "REFINES"},
        "anchor": {"hint": "다른 이정표"},
        "document": {"value": {"text": "다른 글"}},
        "audit": {"at": "2020-01-01T00:00:00Z"},
    }
    assert set(changes) == {line["kind"] for line in taken}
    for kind, change in changes.items():
        number = next(number for number, line in enumerate(taken) if line["kind"] == kind)
        other = [*taken[:number], taken[number] | change, *taken[number + 1 :]]
        with pytest.raises(Conflict, match=r"^line \d+: "):
            await jiyoung.data.import_(pieces(stream_of(other)))
    assert records(await export(jiyoung)) == before


async def test_an_erased_owner_cannot_import(gieok: Gieok) -> None:
    minsu = gieok.user("minsu")
    await fill(minsu)
    taken = await export(minsu)
    await minsu.data.erase()
    with pytest.raises(OwnerErased):
        await minsu.data.import_(pieces(taken))
    assert lines(await export(minsu))[1:] == [{"kind": "end", "records": 0}]


@pytest.mark.req("SESS-5", "COMP-1")
async def test_waiting_summaries_are_made_after_the_import(settings: Settings) -> None:
    """An ended session with two queued summaries, an excerpt to be replaced, and an open session."""
    clock, model = Clock(), MoodyModel()
    async with await Gieok.open(settings, clock=clock, model=model, job_plans=job_plans("excerpt")) as gieok:
        minsu = gieok.user("minsu")
        await begin(minsu, "excerpt", account="premium")
        await minsu.sessions.save_messages("excerpt", said(1, 2))
        model.failures = 99
        await minsu.sessions.close("excerpt", wait=True)
        model.failures = 0
        await begin(minsu, "ended", account="premium")
        await minsu.sessions.save_messages("ended", said(1, 21))
        await minsu.sessions.save_messages("ended", said(22, 25))
        await minsu.sessions.close("ended")
        await begin(minsu, "open", account="premium")
        await minsu.sessions.save_messages("open", said(1, 3))
        jiyoung = await moved(gieok)
        await moved(gieok)
        await minsu.data.erase()
        clock.advance(hours=2)
        while await Worker(gieok).run_once(clock.now):
            pass
        made = sorted((each.session_ref, each.origin) for each in await memories(gieok, "jiyoung"))
        assert made == [
            ("ended", "summary"),
            ("ended", "summary"),
            ("excerpt", "summary"),
            ("open", "summary"),
        ]
        for session in ("excerpt", "ended", "open"):
            view = (await jiyoung.sessions.get(session)).session
            assert view.summarized_count == view.message_count
            assert view.ended_at is not None


@pytest.mark.req("MIND-1", "OPS-3")
async def test_exchanges_that_wait_are_remembered_after_the_import(settings: Settings) -> None:
    """Two exchanges whose jobs are queued, and a message that waits for its answer; each exactly once."""
    clock, model = Clock(), Recorder()
    async with await Gieok.open(settings, clock=clock, model=model) as gieok:
        minsu = gieok.user("minsu")
        await minsu.personas.create(PersonaDraft(name="하나"), persona_id="hana")
        for text in ("나 부산으로 이사했어", "면접을 봤어"):
            await minsu.chat.send("hana", text, session_ref="talk")
        await minsu.sessions.save_messages("talk", [message(1)])
        jiyoung = await moved(gieok)
        await moved(gieok)
        await minsu.data.erase()
        await work(Worker(gieok), clock)
        assert model.remembered == [["나 부산으로 이사했어"], ["면접을 봤어"]]
        await jiyoung.sessions.close("talk")
        await work(Worker(gieok), clock)
        assert model.remembered[2:] == [[message(1).content]]


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)


@pytest.fixture(scope="module")
def names() -> list[int]:
    """Number of owners so far, so that each example gets a new one."""
    return []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(ANY_TEXT, min_size=3, max_size=3), topics=st.lists(ANY_TEXT, max_size=3))
async def test_any_text_is_restored_unchanged(
    gieok: Gieok, names: list[int], texts: list[str], topics: list[str]
) -> None:
    names.append(1)
    one, other = gieok.user(f"one{len(names)}"), gieok.user(f"other{len(names)}")
    content, summary, value = texts
    await begin(one, "s")
    await one.sessions.save_messages("s", [message(1).model_copy(update={"content": content})])
    if summary.strip():
        labels = tuple(each for each in topics if each.strip())
        draft = MemoryDraft(persona_id="hana", summary=summary, topics=labels)
        await one.companion.create(draft, account_plan="premium")
    if value.strip():
        await one.canon.set_fact("hana", Category.OTHER, "무엇", value)
    await one.decisions.keep_evidence("제목", content)
    taken = await export(one)
    await other.data.import_(pieces(taken, 7))
    assert records(await export(other)) == records(taken)
    assert next(line for line in records(taken) if line["kind"] == "message")["content"] == content


@pytest.mark.req("OPS-3", "MIND-15")
async def test_the_speaker_and_the_description_of_a_message_travel(gieok: Gieok) -> None:
    """What was understood of a message finds it after an import too."""
    minsu, jiyoung = gieok.user("minsu"), gieok.user("jiyoung")
    await minsu.personas.create(PersonaDraft(name="하나"), persona_id="hana")
    await minsu.sessions.start("hana", plan="chat_turn", session_ref="s1")
    opening = message(1, "아홉 시에 시작해").model_copy(update={"speaker": "민수"})
    await minsu.sessions.save_messages("s1", [opening], remember=False)
    await gieok.scope("minsu").write(lambda view: view.messages.describe("s1", {"m1": ["면접 약속"]}))
    exported = await export(minsu)
    (line,) = [each for each in records(exported) if each["kind"] == "message"]
    assert (line["speaker"], line["labels"]) == ("민수", ["면접 약속"])
    await jiyoung.data.import_(pieces(exported))
    for user in (minsu, jiyoung):
        (hit,) = await user.companion.search("hana", "면접", kinds=["message"])
        assert (hit.text, hit.speaker) == ("아홉 시에 시작해", "민수")
    assert [each for each in records(await export(jiyoung)) if each["kind"] == "message"] == [line]
