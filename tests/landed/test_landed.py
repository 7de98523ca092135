"""Data of version 0.1.0 reads back, continues, restores and imports. README.md says what the files are."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import UUID

import httpx
import pytest

from gieok import Gieok, MemoryDraft, PersonaDraft, Settings
from gieok.adapters.sql.stores.canon import SqlFactStore
from gieok.app.background.worker import Worker
from gieok.app.restore import restore
from gieok.errors import OwnerErased
from gieok.memory.companion.records import Emotion
from gieok.memory.requests import RequestKey
from gieok.testing.clock import Clock
from gieok.testing.embedders import LetterEmbedder
from gieok.testing.settings import settings_for
from tests.owner_data.world import export, pieces, records, stream_of
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api

HERE = Path(__file__).parent
ANSWERS: dict[str, Any] = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
CONTEXT = "/decisions/context?domain=wms&sessionId=open&q=창고"
STATE = ANSWERS["/personas/hana/state"]
STATE["block"] = (  # values have their day now, and there is one more sentence
    STATE["block"].replace("면접을 앞두고 있음", "면접을 앞두고 있음 (2026-11-03)")
    + " 무엇을 기억하는지 직접 물으면, 블록을 언급하지 않고 기억하는 대로 답한다."
)
STATE["chars"] = len(STATE["block"])
for related in ANSWERS[CONTEXT]["layers"][1]["items"]:
    del related["statement"]  # tier 2 names decisions; their statements are in later tiers
EXPORT = (HERE / "export.ndjson").read_bytes()

ROOT_KEY = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
TOKEN = "gk_52c_oXiQohhTEMwBJfRM7StrK-dOMYoWT2yH2zIitLQ"
REVOKED = "gk_yanO_nLuIWSDAREnaS3raHdrrBA5iXdNngposOipvxQ"
OTHER_OWNER = "gk_4DBUvpU4ycb10P6_DyUO77ErU9eSunczv8ioyRlxQOA"
"""Of `ana`, whose data key was rotated once."""

LATER = datetime(2026, 11, 3, 10, 45, tzinfo=UTC)
"""Three minutes after the last write, when the answers were recorded."""

CLOSED, FIREWORKS, COFFEE, PRAISE, CAT, EXCERPT, MARATHON = (
    "39866898-701f-4641-9f44-47b0e0b65e8b",
    "84f0406e-8c28-4fc3-803b-167e112b7a78",
    "aff09b34-e4e9-4497-a4b3-f304d12177ef",
    "21ec50a7-90c6-4445-80f8-af91b7a864e6",
    "4530038c-24b1-4bac-9003-d5dba94eebdc",
    "3c3cdaa4-156a-4eaa-9d90-0c2bfc81877d",
    "dca6b14d-8152-4853-8736-e432ff188fef",
)
"""The memories. Coffee and the excerpt are archived."""
WALKED, WALK_QUEUED, SUMMARY_QUEUED = (
    "b507274a-fd59-41b1-b89b-e787337c5b1e",
    "745e8f95-db11-4fd5-84a5-17bda856f1f8",
    "f35add40-b8d5-4fce-80b1-d7fa26356671",
)
LEFT_RUNNING = "43962948-6d6f-52a4-a2a3-f036c25f3301"
"""A job of `ana` that a worker claimed before it died."""
AXIS, LOCK, NORMAL = (
    "a3bd040b-c6a4-4875-94b5-39880c6e1895",
    "b2294343-220b-4131-8f82-4a73a7cdf1a3",
    "a893d131-18d6-491d-a95c-a889ca782326",
)


@pytest.fixture
def landed(tmp_path: Path) -> Settings:
    """Settings for a copy of the database, its keystore and its root key."""
    with zipfile.ZipFile(HERE / "stores.zip") as stores:
        stores.extractall(tmp_path / "landed")
    key = tmp_path / "config" / "root.key"
    key.parent.mkdir(mode=0o700)
    key.write_text(ROOT_KEY)
    key.chmod(0o600)
    made = settings_for(f"sqlite:///{tmp_path / 'landed' / 'data' / 'gieok.db'}", key)
    return replace(made, root_key_file=key)


@pytest.fixture
def clock() -> Clock:
    return Clock(LATER)


@pytest.fixture
def server(landed: Settings, clock: Clock) -> Iterator[Server]:
    """Today's service on that copy, with the embedder that made its vectors."""
    with serving(landed, GENEROUS, clock=clock, embedder=LetterEmbedder(dimension=8)) as running:
        yield running


@pytest.fixture
def api(server: Server) -> Iterator[Api]:
    """A client with the token that the landed version made."""
    with client(server, TOKEN) as http:
        yield Api(http)


def client(server: Server, token: str) -> httpx.Client:
    return httpx.Client(
        base_url=server.url, headers={"Authorization": f"Bearer {token}"}, timeout=30, verify=False
    )


def answers(api: Api) -> dict[str, Any]:
    """What the service answers now to the recorded requests."""
    now = {path: api.call("GET", path) for path in ANSWERS}
    now[CONTEXT]["tokens"] = ANSWERS[CONTEXT]["tokens"]  # smaller now, because tier 2 has no statements
    assert len(now[f"/jobs/{WALKED}"]["job"].pop("result")["items"]) == 4  # new
    for path, answer in now.items():
        if "/state" in path:
            for fact in (fact for name in ("facts", "ordinary", "versions") for fact in answer.get(name, ())):
                assert fact.pop("subject") == "user"
                assert [fact.pop(name) for name in ("when", "until", "source")] == [None] * 3
                for name in fact.keys() & {"retiredAt", "reason", "past"}:
                    assert not fact.pop(name)
    return now


def do_all_jobs(server: Server, clock: Clock) -> None:
    """Run whatever is due, until nothing is."""

    async def work() -> None:
        while await Worker(server.gieok).run_once(clock.now):
            pass

    server.run(work())


def ids(answer: dict[str, Any]) -> list[str]:
    return [memory["id"] for memory in answer["memories"]]


def test_everything_reads_back(api: Api) -> None:
    """Personas, facts, sessions, memories, decisions, evidence, anchors, jobs: the same answers as then."""
    assert answers(api) == ANSWERS


def test_the_recorded_answers_are_not_empty(api: Api) -> None:
    """A few values by hand, so that the file of answers is known to hold what it should."""
    assert api.get("/sessions/open")["messages"][0]["content"] == "나는 부산에 살아."
    assert api.get(f"/memory/{COFFEE}")["memory"]["archivedAt"] == "2026-11-02T10:24:00Z"
    assert api.get(f"/memory/{EXCERPT}")["memory"]["origin"] == "excerpt"
    (goal,) = api.get("/personas/hana/state")["facts"]
    assert (goal["key"], goal["value"], goal["version"]) == ("취업", "면접을 앞두고 있음", 2)
    history = api.get(f"/personas/hana/state/{goal['rootId']}/history")["versions"]
    assert [each["value"] for each in history] == ["개발자가 되고 싶어 함", "면접을 앞두고 있음"]
    assert [each["version"] for each in api.get(f"/decisions/{AXIS}/history")["versions"]] == [1, 2]
    assert [node["rootId"] for node in api.get(f"/decisions/{AXIS}/impact")["nodes"]] == [LOCK, NORMAL]
    (anchor,) = api.get("/anchors")["anchors"]
    (evidence, _) = anchor["targets"]
    content = api.get(f"/evidence/{evidence['id']}")["evidence"]["content"]
    assert content == "창고는 하나로 한다. 그래야 재고를 셀 수 있다."


@pytest.mark.parametrize(
    ("persona", "query", "best"),
    [
        ("hana", "면접에서는", {CLOSED, PRAISE}),
        ("hana", "불꽃놀이를", {FIREWORKS}),
        ("hana", "고양이는 어때?", {CAT}),
        ("hana", "커피가", {COFFEE}),
        ("hana", "제주도는", {EXCERPT}),
        ("max", "marathons", {MARATHON}),
    ],
)
def test_search_finds_words_in_another_form(api: Api, persona: str, query: str, best: set[str]) -> None:
    """By the blind index that is stored, with a Korean particle or an English ending; archived ones too."""
    found = api.get("/memory/search", personaId=persona, q=query)
    assert set(ids(found)[: len(best)]) == best
    assert all(hit["why"]["matchedWords"] for hit in found["memories"][: len(best)])


def test_search_compares_the_stored_vectors(api: Api) -> None:
    """The five memories that were embedded have the signal; the one that waits for its vector has not."""
    hits = api.get("/memory/search", personaId="hana", q="나비")["memories"]
    embedded = {hit["id"] for hit in hits if "vectors" in hit["why"]["signals"]}
    assert CAT in embedded
    assert EXCERPT not in embedded


@pytest.mark.req("ENG-9")
def test_an_open_session_continues_after_a_move(api: Api) -> None:
    """Its plan has changed since, so it is moved first. Its window, state, memories and notices are used."""
    former = "79771399eb3e1033f53ced07f1bb35501b25d409b3ad2bcd7e6ddfbdf942b262"
    body = {"personaId": "hana", "sessionId": "open", "message": "면접 준비를 더 해야 할까?"}
    refused = api.post("/chat/send", body, 409)
    assert (refused["error"], refused["expected"]) == ("PLAN_HASH_MISMATCH", former)
    assert api.post("/sessions/open/plan", {"plan": "chat_turn"})["move"]["fromHash"] == former
    turn = api.post("/chat/send", body)
    assert turn["reply"]
    assert {hit["id"] for hit in turn["recalled"][:2]} == {CLOSED, PRAISE}
    assert turn["state"] == [
        {"category": "GOAL", "key": "취업", "value": "면접을 앞두고 있음", "when": None, "until": None}
    ]
    assert turn["notices"] == [
        "메모리가 가득 찼습니다. 중요도가 낮은 이전 대화는 아카이브됩니다.",
        "대화를 요약하지 못해 대화의 앞부분을 그대로 저장했습니다.",
    ]
    session = api.get("/sessions/open")
    assert session["session"]["messageCount"] == 6
    assert session["messages"][:4] == ANSWERS["/sessions/open"]["messages"]


def test_the_session_s_own_memory_is_found(server: Server) -> None:
    """The keyword memory of the session, by its stored blind index; the library shows it, HTTP does not."""
    user = server.gieok.user("minsu")
    server.run(user.sessions.move("open", "chat_turn"))
    turn = server.run(user.chat.send("hana", "면접에는 정장이 좋을까?", session_ref="open"))
    assert [memory.summary for memory in turn.retrieved] == ["사용자가 내일 면접에서 뭘 입을지 물음."]


def test_stored_keys_are_recognised(api: Api) -> None:
    """A fact's key, the content of evidence and a memory's topics: each by its stored keyed hash."""
    fact = {"category": "GOAL", "key": "취업", "value": "합격함"}
    assert api.call("PUT", "/personas/hana/state", json=fact)["fact"]["version"] == 3
    evidence = {"title": "다른 제목", "content": "창고는 하나로 한다. 그래야 재고를 셀 수 있다."}
    assert api.post("/evidence", evidence)["evidence"]["title"] == "회의록"
    api.memory("hana", "고양이 나비가 다 나음.", topics=["고양이"], importance=9)
    assert api.get(f"/memory/{CAT}")["memory"]["archivedAt"] is not None


async def test_a_decision_is_found_by_its_words(landed: Settings) -> None:
    """Its stored blind index is asked at the store: the loading order reaches these decisions without it."""
    async with await Gieok.open(landed) as gieok:
        scope = gieok.scope("minsu")
        found = await scope.read(lambda view: view.decisions.search("검수는", domain="wms", limit=5))
    assert [str(decision.root_id) for decision in found] == [NORMAL]


async def test_a_repeated_request_is_answered_from_the_stored_key(landed: Settings) -> None:
    """Within a day, the idempotency key that the landed version kept gives back the memory that it made."""
    draft = MemoryDraft(
        persona_id="hana",
        summary="부산 바다에서 친구들과 불꽃놀이를 봄.",
        topics=("여행", "부산"),
        emotion=Emotion.JOY,
        importance=9,
    )
    once = RequestKey(key="once-1", body=b'{"a":1}')
    async with await Gieok.open(landed, clock=Clock(datetime(2026, 11, 2, 12, 0, tzinfo=UTC))) as gieok:
        kept = await gieok.user("minsu").companion.create(draft, account_plan="free", once=once)
    assert str(kept.memory.id) == FIREWORKS


def test_the_queued_jobs_run(server: Server, api: Api, clock: Clock) -> None:
    """Each kind of job, an excerpt that waits for a better summary, and one that a worker left running."""
    clock.advance(hours=2)
    do_all_jobs(server, clock)
    for job in (WALK_QUEUED, SUMMARY_QUEUED):
        assert api.get(f"/jobs/{job}")["job"]["status"] == "done"
    with client(server, OTHER_OWNER) as ana:
        assert Api(ana).get(f"/jobs/{LEFT_RUNNING}")["job"]["status"] == "done"
        assert Api(ana).get("/sessions/talk")["session"]["endedAt"] is not None
    excerpt = api.get(f"/memory/{EXCERPT}")["memory"]
    assert (excerpt["origin"], excerpt["version"]) == ("summary", 2)
    assert api.get("/sessions/open")["session"]["endedAt"] is not None
    summarised = {memory["sessionId"] for memory in api.get("/memory/list", personaId="max")["memories"]}
    assert summarised == {None, "english", "queued"}
    hits = api.get("/memory/search", personaId="hana", q="제주도")["memories"]
    assert "vectors" in next(hit for hit in hits if hit["id"] == EXCERPT)["why"]["signals"]


@pytest.mark.req("MIND-10")
def test_old_messages_are_found_after_they_are_indexed(server: Server, api: Api, clock: Clock) -> None:
    """The upgrade queues the job at the time of the machine. Until it is done, a search says so."""
    wanted: dict[str, Any] = {"personaId": "hana", "q": "개발자 면접", "kinds": "message,fact"}
    before = api.get("/memory/search", **wanted)
    assert (before["memories"], before["degraded"]) == ([], ["messages"])
    memories: dict[str, Any] = {**wanted, "kinds": "memory"}
    assert api.get("/memory/search", **memories)["degraded"] == []
    clock.advance(seconds=max((datetime.now(UTC) - clock()).total_seconds(), 0) + 60)
    do_all_jobs(server, clock)
    after = api.get("/memory/search", **wanted)
    assert after["degraded"] == []
    found = after["memories"][0]
    assert (found["kind"], found["role"], found["sessionId"]) == ("message", "user", "closed")
    assert found["content"] == "다음 주 화요일에 개발자 면접이 있어서 떨려."
    assert {hit["kind"] for hit in after["memories"]} == {"message", "fact"}


@pytest.mark.req("MIND-6", "MIND-7")
async def test_old_facts_end_by_their_kind_and_the_newer_one_keeps_the_slot(
    landed: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upgrade has queued the job. The facts are stored in the first format, without the merging of an
    import, as the landed version did."""
    clock = Clock(LATER)
    lines = [
        old_fact(1, "boyfriend", "지훈과 사귀는 중", category="RELATIONSHIP"),
        old_fact(2, "partner", "지훈과 헤어짐", category="RELATIONSHIP", validFrom="2026-11-02T09:00:00Z"),
        old_fact(3, "건강", "감기에 걸림", category="EVENT"),
        old_fact(4, "기분", "우울함", category="EVENT"),
    ]
    async with await Gieok.open(landed, clock=clock, background=False) as gieok:
        user = gieok.user("minsu")
        with monkeypatch.context() as patch:
            patch.setattr(SqlFactStore, "consolidate", Mock(return_value=0))
            await user.data.import_(pieces(stream_of(lines)))
        known = {fact.key: fact for fact in await user.canon.facts("hana")}
        assert known.keys() == {"취업", "home", "boyfriend", "partner", "건강", "기분"}
        assert {fact.subject for fact in known.values()} == {"user"}
        days = [known[key].until for key in ("건강", "기분", "partner")]
        assert days == [date(2026, 11, 11), date(2026, 11, 2), None]
        while await Worker(gieok).run_once(clock.now):
            pass
        keys = {fact.key for fact in await user.canon.facts("hana")}
        assert keys == {"취업", "home", "partner", "건강", "기분"}
        (version,) = await user.canon.history("hana", UUID(int=1))
        assert (version.value, version.reason, version.is_active) == ("지훈과 사귀는 중", "merged", False)
        block = (await user.canon.state("hana")).block
        assert ("감기에 걸림 (2026-11-01)" in block, "우울함 (2026-11-01) (지난 일)" in block) == (True, True)


def old_fact(number: int, key: str, value: str, **more: str) -> dict[str, Any]:
    """A record of a fact as the landed version exported it."""
    root = str(UUID(int=number))
    return {
        "kind": "fact",
        "personaId": "hana",
        "rootId": root,
        "versionId": root,
        "version": 1,
        "key": key,
        "value": value,
        "importance": 5,
        "provenance": "user",
        "validFrom": "2026-11-01T09:00:00Z",
        "retiredAt": None,
        **more,
    }


def test_walks_usage_and_audit_read_back(server: Server) -> None:
    """What HTTP does not show."""
    minsu = server.gieok.user("minsu")
    explored = server.run(minsu.decisions.walk_result(UUID(WALKED)))
    assert [item.kind for item in explored.items] == ["decision", "decision", "decision", "evidence"]
    (day,) = server.run(minsu.usage())
    assert str(day.day) == "2026-11-03"
    actions = [entry.action for entry in server.run(minsu.audit.list())]
    assert sorted(actions) == ["owner.exported", "token.created", "token.created", "token.revoked"]


def test_a_data_key_rotation_changes_nothing_that_is_read(server: Server, api: Api) -> None:
    """Every sealed value is opened under its old binding and sealed again under a new key."""
    assert server.run(server.gieok.user("minsu").rotate_key()) == 49
    assert answers(api) == ANSWERS
    assert ids(api.get("/memory/search", personaId="hana", q="불꽃놀이를"))[0] == FIREWORKS


def test_tokens_keep_their_meaning(server: Server) -> None:
    """A token still says whose it is, and a revoked one is still refused."""
    with client(server, OTHER_OWNER) as ana:
        (persona,) = Api(ana).get("/personas")["personas"]
        assert persona["id"] == "max"
        assert Api(ana).get("/sessions/talk")["messages"][0]["content"] == "My sister Lena moved to Lisbon."
        Api(ana).get(f"/memory/{FIREWORKS}", 404)
    with client(server, REVOKED) as revoked:
        Api(revoked).get("/personas", 401)


def test_an_erased_owner_stays_erased(server: Server) -> None:
    """A new owner may use the name, and has nothing of the former one."""
    gone = server.gieok.user("gone")
    draft = PersonaDraft(name="하나", system_prompt="너는 하나야.")
    with pytest.raises(OwnerErased):
        server.run(gone.personas.create(draft, persona_id="hana"))
    server.run(server.gieok.tokens.create("gone"))
    assert server.run(gone.companion.list(status="all")).total == 0
    server.run(gone.personas.create(draft, persona_id="hana"))


def test_the_backup_restores(landed: Settings, clock: Clock, tmp_path: Path) -> None:
    """On a machine that has lost everything but the root key."""
    shutil.rmtree(tmp_path / "landed" / "data")
    done = restore(landed, tmp_path / "landed" / "backup")
    assert (done.keystore_kept, done.erased_again) == (False, 0)
    with (
        serving(landed, GENEROUS, clock=clock, embedder=LetterEmbedder(dimension=8)) as server,
        client(server, TOKEN) as http,
    ):
        assert answers(Api(http)) == ANSWERS


async def test_the_database_exports_what_it_exported_then(landed: Settings, clock: Clock) -> None:
    async with await Gieok.open(landed, clock=clock) as gieok:
        assert records(await export(gieok.user("minsu"))) == records(EXPORT)


@pytest.mark.req("OPS-3")
async def test_the_export_imports_and_exports_again_equal(settings: Settings, clock: Clock) -> None:
    """Into an empty SQLite and an empty PostgreSQL; what waited for a summary gets it there."""
    async with await Gieok.open(settings, clock=clock) as gieok:
        user = gieok.user("minsu")
        result = await user.data.import_(pieces(EXPORT))
        assert (sum(result.counts.values()), result.unchanged) == (58, 0)
        assert records(await export(user)) == records(EXPORT)
        hits = await user.companion.search("hana", "불꽃놀이를")
        assert str(hits[0].memory.id) == FIREWORKS
        clock.advance(hours=2)
        while await Worker(gieok).run_once(clock.now):
            pass
        assert (await user.companion.get(UUID(EXCERPT))).origin == "summary"
