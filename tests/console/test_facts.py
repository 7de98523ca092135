"""The page `facts`: the state as of a day, what has changed since, timelines, and changes by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from gieok.testing.settings import settings_for
from tests.console.conftest import Browser, text_of
from tests.rest.conftest import GENEROUS, Server, serving
from tests.rest.routes.conftest import Api

MARCH = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    now = MARCH

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shared(tmp_path_factory: pytest.TempPathFactory, clock: Clock) -> Iterator[Server]:
    """A service whose days pass when the test says so. The other pages are tested on both databases."""
    folder = tmp_path_factory.mktemp("facts")
    settings = settings_for(f"sqlite:///{folder / 'data' / 'gieok.db'}", folder / "key" / "root.key")
    with serving(settings, GENEROUS, clock=clock) as running:
        yield running


def facts_in(page: str) -> set[tuple[str, int]]:
    return {
        (root, int(version)) for root, version in re.findall(r'data-root="(.*?)" data-version="(\d+)"', page)
    }


def facts_of(state: dict[str, list[dict[str, object]]]) -> set[tuple[object, object]]:
    return {(fact["rootId"], fact["version"]) for fact in (*state["facts"], *state["ordinary"])}


def set_fact(api: Api, persona: str, key: str, value: str, category: str = "GOAL") -> str:
    body = {"category": category, "key": key, "value": value}
    return api.call("PUT", f"/personas/{persona}/state", json=body)["fact"]["rootId"]


@pytest.fixture
def persona(api: Api, clock: Clock) -> str:
    """Facts of three days: one stays, one changes, one is retired, one is new."""
    made = api.persona("하루")
    set_fact(api, made, "취업", "스타트업에 가고 싶음")
    set_fact(api, made, "도시", "서울", "PERSONAL_INFO")
    retired = set_fact(api, made, "운동", "자전거", "HABIT")
    clock.now = MARCH + timedelta(days=10)
    set_fact(api, made, "도시", "부산", "PERSONAL_INFO")
    api.call("DELETE", f"/personas/{made}/state/{retired}")
    clock.now = MARCH + timedelta(days=20)
    set_fact(api, made, "여행", "제주", "EVENT")
    return made


@pytest.mark.parametrize("days", [0, 9, 10, 15, 20])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_the_slider_shows_what_the_api_says_of_that_day(
    browser: Browser, api: Api, persona: str, days: int, headers: dict[str, str]
) -> None:
    day = (MARCH + timedelta(days=days)).date()
    state = api.get(f"/personas/{persona}/state", asOf=f"{day}T23:59:59.999999Z")
    page = browser.get(f"/facts/{persona}?day={day.toordinal()}", 200, **headers)
    assert facts_in(page) == facts_of(state) != set()


def test_without_a_day_it_is_now(browser: Browser, api: Api, persona: str) -> None:
    assert facts_in(browser.get(f"/facts/{persona}")) == facts_of(api.get(f"/personas/{persona}/state"))


def test_a_day_outside_the_slider_is_its_nearest_end(browser: Browser, persona: str) -> None:
    first = browser.get(f"/facts/{persona}?day={MARCH.date().toordinal()}")
    assert facts_in(browser.get(f"/facts/{persona}?day=1")) == facts_in(first)
    browser.get(f"/facts/{persona}?day=nonsense")


def test_it_says_what_has_changed_since_then(browser: Browser, persona: str) -> None:
    page = browser.get(f"/facts/{persona}?day={date(2026, 3, 2).toordinal()}")
    changed = page.partition("What has changed since then")[2].partition("</table>")[0]
    rows = [text_of(row) for row in re.findall(r"<tr>(.*?)</tr>", changed, re.DOTALL)][1:]
    assert sorted(rows) == sorted(["도시 서울 부산", "운동 자전거 –", "여행 – 제주"])


def test_a_timeline_has_every_version(browser: Browser, persona: str) -> None:
    page = browser.get(f"/facts/{persona}")
    drawn = re.findall(r'aria-label="(\S+): (\d+) versions">(.*?)</svg>', page, re.DOTALL)
    assert {name: (int(count), svg.count("<rect")) for name, count, svg in drawn} == {
        "취업": (1, 1),
        "도시": (2, 2),
        "운동": (1, 1),
        "여행": (1, 1),
    }
    assert "서울" in page


def test_set_and_retire_by_hand(browser: Browser, api: Api, persona: str) -> None:
    browser.post(f"/facts/{persona}", {"category": "GOAL", "key": "취업", "value": "합격", "importance": "9"})
    (goal,) = [each for each in api.get(f"/personas/{persona}/state")["facts"] if each["key"] == "취업"]
    assert (goal["value"], goal["version"], goal["provenance"]) == ("합격", 2, "hand")
    browser.post(f"/facts/{persona}/{goal['rootId']}/retire")
    assert "취업" not in [each["key"] for each in api.get(f"/personas/{persona}/state")["facts"]]


@pytest.mark.parametrize(
    ("field", "value"), [("key", ""), ("value", ""), ("importance", "99"), ("category", "NONSENSE")]
)
def test_a_wrong_field_is_named_and_nothing_is_set(
    browser: Browser, api: Api, persona: str, field: str, value: str
) -> None:
    before = facts_of(api.get(f"/personas/{persona}/state"))
    fields = {"category": "GOAL", "key": "새", "value": "것", "importance": "5", field: value}
    assert f'id="error-{field}"' in browser.post(f"/facts/{persona}", fields, 422).text
    assert facts_of(api.get(f"/personas/{persona}/state")) == before


def test_the_source_message_of_a_fact_is_marked(
    browser: Browser, api: Api, persona: str, browse: Callable[..., Browser]
) -> None:
    api.post("/chat/send", {"personaId": persona, "message": "나 고양이를 키워", "waitMemory": True})
    page = browser.get(f"/facts/{persona}")
    (link,) = set(re.findall(r'href="/console(/sessions/[^"]+\?message=[^"]+)#marked"', page))
    (marked,) = re.findall(r"<mark>(.*?)</mark>", browser.get(link), re.DOTALL)
    assert text_of(marked) == "나 고양이를 키워"
