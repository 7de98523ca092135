"""Every page of the console in a real Chromium: with a mouse, with the keyboard, on a phone, without
JavaScript, and for people who use a screen reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from gieok.interfaces.console.navigation import NAVIGATION
from gieok.plans import load_plan
from gieok.testing.settings import settings_for
from tests.console.chromium import NoChromium, open_chromium
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api
from tests.rest.test_isolation import SECRET, create_one_of_each
from tests.rest.test_operator import fail_job

expect.set_options(timeout=20_000)
Tab = Callable[..., Page]
PATHS = [
    *(item.path for item in NAVIGATION if item.scope == "read"),
    "/console/memories/{memory}",
    "/console/memories/{memory}/edit",
    "/console/sessions/{session}",
    "/console/sessions/{session}/turns/{turn}",
    "/console/decisions/{decision}",
    "/console/personas/{persona}/delete",
    "/console/decisions/new",
    "/console/decisions/import",
    "/console/decisions/evidence/{evidence}",
    "/console/plans/chat_turn",
    "/console/plans/diff?old=chat_turn&new=chat_turn_whole",
    "/console/data",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    try:
        with open_chromium() as browser:
            yield browser
    except NoChromium as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The pages are the same on both databases; the tests without a browser run on both."""
    folder = tmp_path_factory.mktemp("browser")
    settings = settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "key" / "root.key")
    with serving(settings, GENEROUS) as running:
        yield running


@pytest.fixture
def api(service: Server, owner: str) -> Iterator[Api]:
    with service.client(owner, "premium") as client:
        yield Api(client)


@pytest.fixture
def tab(chromium: Browser, service: Server, owner: str) -> Iterator[Tab]:
    """Open a tab, signed in, in English unless it says otherwise. A message in its console fails the test."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def open_tab(*, scopes: Sequence[str] | None = None, **options: Any) -> Page:
        token = service.token(owner, scopes=scopes) if scopes else service.token(owner)
        given: dict[str, Any] = {"locale": "en-US", "viewport": {"width": 1200, "height": 800}, **options}
        context = chromium.new_context(base_url=service.url, **given)
        contexts.append(context)
        cookie = {"name": "gieok_console", "value": token, "domain": "127.0.0.1", "path": "/console"}
        context.add_cookies([cookie])  # pyright: ignore[reportArgumentType]  a TypedDict in their types
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda message: (
                problems.append(message.text)
                if message.type in ("error", "warning") and "Failed to load resource" not in message.text
                else None
            ),
        )
        return page

    yield open_tab
    for context in contexts:
        context.close()
    assert problems == []


def test_a_search_finds_an_inflected_word_while_it_is_typed(tab: Tab, api: Api) -> None:
    """`면접이` finds `면접`. The parts of the bar add up to the score of the API, and are drawn to scale."""
    persona = api.persona("하루")
    api.memory(persona, "내일 중요한 면접을 앞두고 있음", importance=8)
    api.memory(persona, "주말에 등산을 다녀옴")
    page = tab()
    page.goto(f"/console/memories?persona={persona}")
    page.get_by_label("Search words").press_sequentially("면접이")
    expect(page.locator(".memory")).to_have_count(1)
    expect(page.locator(".memory .text")).to_contain_text("면접")
    (hit,) = api.get("/memory/search", personaId=persona, q="면접이")["memories"]
    bars = page.locator(".memory rect").evaluate_all(
        "rects => rects.map(each => [Number(each.dataset.part), each.getBoundingClientRect().width])"
    )
    whole = page.locator(".memory svg").evaluate("svg => svg.getBoundingClientRect().width")
    assert sum(part for part, _ in bars) == pytest.approx(hit["score"])
    for part, width in bars:
        assert width / whole == pytest.approx(part / hit["score"], abs=0.01)
    assert "%" not in page.url
    assert "면접" not in page.url


def test_the_second_of_two_tabs_sees_the_conflict(tab: Tab, api: Api) -> None:
    memory = api.memory(api.persona(), "처음")
    first, second = tab(), tab()
    for page in (first, second):
        page.goto("/console/memories")
        page.get_by_role("link", name="Edit").click()
        expect(page.get_by_label("Text")).to_be_focused()
    first.get_by_label("Text").fill("첫째 탭")
    first.get_by_role("button", name="Save").click()
    expect(first.locator(".memory .text")).to_have_text("첫째 탭")
    second.get_by_label("Text").fill("둘째 탭")
    second.get_by_role("button", name="Save").click()
    expect(second.get_by_role("alert")).to_contain_text("첫째 탭")
    expect(second.get_by_label("Text")).to_have_value("둘째 탭")
    assert api.get(f"/memory/{memory['id']}")["memory"]["summary"] == "첫째 탭"
    second.get_by_role("button", name="Save mine").click()
    expect(second.locator(".memory .text")).to_have_text("둘째 탭")


def test_a_chat_turn_is_streamed_and_explained(tab: Tab, api: Api) -> None:
    persona = api.persona("하루")
    memory = api.memory(persona, "내일 중요한 면접을 앞두고 있음")
    page = tab()
    page.goto(f"/console/chat/{persona}")
    page.get_by_label("Message").fill("면접이 걱정돼")
    page.keyboard.press("Enter")
    expect(page.locator(f"[data-hit='{memory['id']}']")).to_be_visible()
    expect(page.locator("#chat-log li")).to_have_count(2)
    expect(page.get_by_label("Message")).to_have_value("")
    expect(page.get_by_label("Message")).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("withdrawn")
    expect(page.locator("#chat-log li")).to_have_count(0)


def test_the_slider_shows_what_the_api_says_of_that_day(tab: Tab, api: Api) -> None:
    persona = api.persona("하루")
    for key, value in (("도시", "서울"), ("도시", "부산"), ("취업", "합격")):
        api.call("PUT", f"/personas/{persona}/state", json={"category": "GOAL", "key": key, "value": value})
    page = tab()
    page.goto(f"/console/facts/{persona}")
    page.get_by_label("As of").focus()
    page.keyboard.press("Home")
    expect(page.locator("#state h2").first).to_be_visible()
    day = date.fromordinal(int(page.get_by_label("As of").input_value()))
    state = api.get(f"/personas/{persona}/state", asOf=f"{day}T23:59:59.999999Z")
    shown: list[list[Any]] = page.locator("#state tr[data-root]").evaluate_all(
        "rows => rows.map(each => [each.dataset.root, Number(each.dataset.version)])"
    )
    facts = (*state["facts"], *state["ordinary"])
    assert sorted(map(tuple, shown)) == sorted((each["rootId"], each["version"]) for each in facts)


def test_the_nodes_of_the_graph_are_those_of_the_impact(tab: Tab, api: Api) -> None:
    body = {"strength": "axis", "scope": "domain", "domain": "wms"}
    roots = [
        api.post("/decisions", {**body, "statement": f"결정 {number}"}, 201)["decision"]["rootId"]
        for number in range(4)
    ]
    for source, target in ((1, 0), (2, 1), (3, 0)):
        relation = {"type": "DEPENDS_ON", "target": roots[target]}
        api.post(f"/decisions/{roots[source]}/relations", relation, 201)
    impact = api.get(f"/decisions/{roots[0]}/impact")
    page = tab()
    page.goto(f"/console/decisions/{roots[0]}")
    expect(page.locator("#impact-graph canvas").first).to_be_visible()
    drawn = page.locator("#impact-graph").evaluate(
        "box => box._cyreg.cy.nodes().filter(each => !each.isParent()).map(each => each.id())"
    )
    assert set(drawn) == {impact["origin"], *(each["rootId"] for each in impact["nodes"])}


def test_a_row_of_the_list_marks_its_path_in_the_graph(tab: Tab, api: Api) -> None:
    """By keyboard: the row that has the focus marks the path from the decision to its own node."""
    body = {"strength": "axis", "scope": "domain", "domain": "wms"}
    roots: list[str] = []
    for number in range(3):
        relations = [{"type": "REFINES", "target": roots[-1]}] if roots else []
        saved = api.post("/decisions", {**body, "statement": f"결정 {number}", "relations": relations}, 201)
        roots.append(saved["decision"]["rootId"])
    page = tab()
    page.goto(f"/console/decisions/{roots[0]}")
    expect(page.locator("#impact-graph canvas").first).to_be_visible()
    page.locator(f"[data-node='{roots[2]}'] a").first.focus()
    marked = page.locator("#impact-graph").evaluate(
        "box => box._cyreg.cy.nodes('.on-path').map(each => each.id())"
    )
    assert set(marked) == set(roots)


def test_a_decision_is_saved_after_the_report(tab: Tab, api: Api) -> None:
    body = {"strength": "axis", "scope": "domain", "domain": "wms"}
    first = api.post("/decisions", {**body, "statement": "재고는 기록에서 계산한다"}, 201)["decision"][
        "rootId"
    ]
    relation = [{"type": "CONFLICTS_WITH", "target": first}]
    api.post("/decisions", {**body, "statement": "재고를 따로 저장한다", "relations": relation}, 201)
    page = tab()
    page.goto(f"/console/decisions/{first}")
    page.get_by_role("link", name="Propose a change").click()
    page.get_by_label("Statement").fill("재고는 기록에서만 계산한다")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#report")).to_contain_text("재고를 따로 저장한다")
    assert api.get(f"/decisions/{first}")["decision"]["version"] == 1
    page.get_by_role("button", name="Save this decision").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("재고는 기록에서만 계산한다")
    assert api.get(f"/decisions/{first}")["decision"]["version"] == 2


def test_the_graph_of_a_plan_has_its_steps(tab: Tab) -> None:
    plan = load_plan("chat_turn")
    page = tab()
    page.goto("/console/plans/chat_turn")
    expect(page.locator("#plan-graph canvas").first).to_be_visible()
    drawn = page.locator("#plan-graph").evaluate(
        "box => box._cyreg.cy.nodes().filter(each => !each.isParent())"
        ".map(each => [each.id(), each.parent().data('label')])"
    )
    assert {tuple(each) for each in drawn} == {(step.id, step.stage.value) for step in plan.steps}


@pytest.mark.parametrize("has_javascript", [True, False])
def test_an_export_is_imported_after_a_preview(
    tab: Tab, api: Api, service: Server, tmp_path: Path, has_javascript: bool
) -> None:
    """In place, where the file stays chosen; without JavaScript, the same file is chosen again."""
    api.memory(api.persona("하루"), "면접을 앞두고 있음")
    name = f"other-{uuid4()}"
    file = tmp_path / "export.ndjson"
    file.write_bytes(api.http.get("/api/v1/me/export").content)
    page = tab(java_script_enabled=has_javascript)
    page.context.clear_cookies()
    page.goto("/console/data")
    page.get_by_label("Token").fill(service.token(name))
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("File of an export").set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#import-preview tr[data-kind=memory] td")).to_have_text("1")
    if not has_javascript:
        page.get_by_label("File of an export").set_input_files(file)
    page.get_by_role("button", name="Import now").click()
    expect(page.get_by_role("status")).to_contain_text("Imported")
    with service.client(name) as client:
        assert len(Api(client).get("/memory/list")["memories"]) == 1


def test_everything_is_erased_after_the_name_is_typed(tab: Tab, api: Api, owner: str) -> None:
    api.memory(api.persona(), "지울 것")
    page = tab()
    page.goto("/console/data")
    page.get_by_label("to confirm").fill("someone")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.locator("#error-name")).to_be_visible()
    expect(page.get_by_label("to confirm")).to_be_focused()
    page.get_by_label("to confirm").fill(owner)
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Everything is erased")).to_be_visible()
    page.goto("/console/memories")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_signing_in_and_out_by_the_form(tab: Tab, service: Server, owner: str) -> None:
    page = tab()
    page.context.clear_cookies()
    page.goto("/console/memories")
    page.get_by_label("Token").fill("gk_nonsense")
    page.keyboard.press("Enter")
    expect(page.locator("#error-token")).to_be_visible()
    page.get_by_label("Token").fill(service.token(owner))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Memories", level=1)).to_be_visible()
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_revoked_token_is_signed_out(tab: Tab, service: Server, owner: str, api: Api) -> None:
    persona = api.persona()
    page = tab()
    page.goto(f"/console/memories?persona={persona}")
    for token in service.run(service.gieok.tokens.list(owner)):
        service.run(service.gieok.tokens.revoke(token.id))
    page.get_by_label("Search words").fill("면접")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert "/console/sign-in" in page.url


def test_everything_can_be_done_by_keyboard(tab: Tab, api: Api) -> None:
    """Skip the navigation, search, open the edit form, change the text and save it, without a mouse."""
    persona = api.persona("하루")
    memory = api.memory(persona, "면접을 앞두고 있음")
    page = tab()
    page.goto(f"/console/memories?persona={persona}")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Search words")).to_be_focused()
    page.keyboard.type("면접")
    expect(page.locator(".why")).to_be_visible()
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Edit":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("면접에 합격함")
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Save":
            break
    page.keyboard.press("Enter")
    expect(page.locator(".memory .text")).to_have_text("면접에 합격함")
    assert api.get(f"/memory/{memory['id']}")["memory"]["summary"] == "면접에 합격함"


def test_everything_can_be_done_without_javascript(tab: Tab, api: Api) -> None:
    persona = api.persona("하루")
    api.memory(persona, "면접을 앞두고 있음")
    page = tab(java_script_enabled=False)
    page.goto(f"/console/memories?persona={persona}")
    page.get_by_label("Search words").fill("면접이")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".memory .why")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("면접에 합격함")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    page.goto(f"/console/chat/{persona}")
    page.get_by_label("Message").fill("그 면접 어땠지?")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#chat-log li")).to_have_count(2)
    expect(page.locator("[data-hit]").first).to_be_visible()
    page.goto(f"/console/facts/{persona}")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Current state")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_axe_finds_no_serious_issue(tab: Tab, api: Api, path: str, theme: str) -> None:
    page = tab(color_scheme=theme, locale="ko-KR")
    answer = page.goto(path.format(**create_one_of_each(api)))
    assert answer is not None
    assert answer.status == 200
    assert serious_issues(page) == []


def serious_issues(page: Page) -> list[tuple[str, list[str]]]:
    """What axe reports as serious or critical: the rule, and the elements that break it."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate("axe.run().then(result => result.violations)")
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in serious]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_old_turn_is_opened_from_the_chat(tab: Tab, api: Api, theme: str) -> None:
    persona = api.persona("하루")
    api.memory(persona, "부산에서 면접을 본다")
    for text in ("그 면접 어땠지?", "나 부산으로 이사했어"):
        api.post("/chat/send", {"personaId": persona, "message": text, "waitMemory": True})
    page = tab(color_scheme=theme, viewport={"width": 360, "height": 740})
    page.goto(f"/console/chat/{persona}")
    page.get_by_role("link", name="How it ran").first.click()
    expect(page.locator("[data-recalled]")).to_have_count(1)
    expect(page.get_by_role("heading", name="Steps")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious_issues(page) == []


@pytest.mark.req("OPS-4")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_operator_sees_counts_and_jobs_and_never_content(
    tab: Tab, service: Server, api: Api, theme: str
) -> None:
    ids = create_one_of_each(api)
    fail_job(service, f"owner-{uuid4()}", "quokka")
    phone = {"width": 360, "height": 740}
    page = tab(scopes=["operator"], color_scheme=theme, locale="ko-KR", viewport=phone)
    page.goto("/console")
    expect(page).to_have_url(re.compile("/console/operator$"))
    expect(page.locator("[id^=job-]").first).to_be_visible()
    expect(page.locator("table").first).to_be_visible()
    assert page.locator(".side nav a").count() == 1, "only its own page is offered"
    assert SECRET not in page.content()
    assert "quokka" not in page.content()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious_issues(page) == []
    for path in ("memories", f"sessions/{ids['session']}", f"chat/{ids['persona']}"):
        answer = page.goto(f"/console/{path}")
        assert answer is not None
        assert answer.status == 403


@pytest.mark.parametrize("path", PATHS)
def test_a_page_fits_a_phone(tab: Tab, api: Api, path: str) -> None:
    page = tab(viewport={"width": 360, "height": 740})
    page.goto(path.format(**create_one_of_each(api)))
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360, page.evaluate(
        "[...document.querySelectorAll('body *')].filter(each => each.getBoundingClientRect().right > 361)"
        ".map(each => each.outerHTML.slice(0, 100)).slice(0, 3)"
    )


def test_stored_markup_is_not_run(tab: Tab, api: Api) -> None:
    attack = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
    persona = api.persona(attack[:120])
    memory = api.memory(persona, f"면접 {attack}", topics=[attack[:120]])
    page = tab()
    for path in ("/console/memories", f"/console/memories/{memory['id']}", f"/console/chat/{persona}"):
        page.goto(path)
        assert page.title() != "run"
        assert page.locator("img[src=x]").count() == 0
    page.get_by_label("Message").fill(attack)
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#chat-log li")).to_have_count(2)
    expect(page.locator("#chat-log li").first).to_contain_text("<img src=x")
    assert page.title() != "run"


def test_language_and_theme_are_chosen_in_the_page(tab: Tab) -> None:
    page = tab()
    page.goto("/console/memories")
    page.get_by_text("Language and theme").click()
    page.locator("select[name=language]").select_option("ko")
    expect(page.get_by_role("heading", level=1)).to_have_text("기억")
    assert page.locator("html").get_attribute("lang") == "ko"
    page.get_by_text("언어와 테마").click()
    page.locator("select[name=theme]").select_option("dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert all(int(part) < 64 for part in re.findall(r"\d+", background)[:3])
