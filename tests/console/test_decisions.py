"""The pages about decisions show what the API returns, and save only what was checked."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from gieok.memory.decisions.loading.layers import TIERS
from tests.console.conftest import Browser, text_of
from tests.rest.routes.conftest import Api

DECISION: dict[str, Any] = {"strength": "normal", "scope": "domain", "domain": "wms"}
FORM: dict[str, str | list[str]] = {"strength": "normal", "domain": "wms"}


def save(api: Api, statement: str, *relations: tuple[str, str], **fields: Any) -> str:
    """Save a decision. Returns its root id."""
    related = [{"type": type_, "target": target} for type_, target in relations]
    body = {**DECISION, "statement": statement, "relations": related, **fields}
    return api.post("/decisions", body, 201)["decision"]["rootId"]


def graph_in(page: str) -> dict[str, Any]:
    found = re.search(r"data-graph='([^']*)'", page)
    assert found
    return json.loads(unescape(found[1]))


def chain(api: Api) -> tuple[str, str, str, str]:
    """The second and the fourth depend on the first, the third refines the second."""
    first = save(api, "재고는 이동 기록에서만 계산한다", strength="axis")
    second = save(api, "출고는 예약에서 뺀다", ("DEPENDS_ON", first))
    third = save(api, "예약은 만료된다", ("REFINES", second))
    fourth = save(api, "금요일에 조사한다", ("DEPENDS_ON", first))
    return first, second, third, fourth


def test_an_empty_list_says_what_to_do(browser: Browser) -> None:
    assert "No decisions yet" in browser.get("/decisions")


def test_it_lists_what_the_api_lists(browser: Browser, api: Api) -> None:
    for number in range(3):
        save(api, f"결정 {number}", strength=("normal", "lock", "axis")[number])
    save(api, "전역", scope="global", domain=None)
    for query in ("", "strength=lock", "scope=global"):
        listed = [each["rootId"] for each in api.call("GET", f"/decisions?{query}")["decisions"]]
        page = browser.get(f"/decisions?{query}")
        assert re.findall(r'id="decision-([0-9a-f-]{36})"', page) == listed


def test_the_seven_layers_are_those_of_the_api_in_order(browser: Browser, api: Api) -> None:
    chain(api)
    save(api, "어디에나 적용된다", scope="global", domain=None, strength="axis")
    api.call("PUT", "/decisions/policy", json={"principles": ["모르면 모른다고 말한다"]})
    layers = api.get("/decisions/context", domain="wms", q="예약")["layers"]
    page = browser.post("/decisions", {"domain": "wms", "q": "예약"}, 200).text
    shown = re.split(r'<li class="card layer" id="layer-\d">', page)[1:]
    assert [layer["name"] for layer in layers] == list(TIERS)
    assert len(shown) == len(layers)
    for layer, html in zip(layers, shown, strict=True):
        text = text_of(html)
        assert layer["name"] in text
        for item in layer["items"]:
            assert item["rootId"] in html if item["kind"] == "structural" else item["statement"] in text
    assert sum(len(layer["items"]) for layer in layers) == len(re.findall(r"<li>\s*<p>", page))


@pytest.mark.parametrize("domain", ["", "global", "*"])
def test_a_wrong_domain_is_named_beside_its_field(browser: Browser, domain: str) -> None:
    assert 'id="error-domain"' in browser.post("/decisions", {"domain": domain}, 422).text


def test_graph_and_list_have_the_nodes_of_the_api(browser: Browser, api: Api) -> None:
    first, *_ = chain(api)
    impact = api.get(f"/decisions/{first}/impact")
    page = browser.get(f"/decisions/{first}")
    graph = graph_in(page)
    nodes = {node["rootId"] for node in impact["nodes"]}
    assert {node["id"] for node in graph["nodes"]} == nodes | {first}
    assert set(re.findall(r'data-node="([^"]+)"', page)) == nodes
    edges = {(edge["from"], edge["type"], edge["to"]) for node in impact["nodes"] for edge in node["path"]}
    assert {(edge["source"], edge["label"], edge["target"]) for edge in graph["edges"]} == edges
    for node in impact["nodes"]:
        row = page.partition(f'data-node="{node["rootId"]}"')[2].partition("</ol>")[0]
        path = re.findall(r'data-source="([^"]+)" data-label="([^"]+)" data-target="([^"]+)"', row)
        assert path == [(edge["from"], edge["type"], edge["to"]) for edge in node["path"]]


def test_a_large_blast_radius_is_cut_and_can_be_shown_whole(
    browser: Browser, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gieok.interfaces.console.pages.decisions.SHOWN", 2)
    first, *_ = chain(api)
    cut = browser.get(f"/decisions/{first}")
    nearest = [node["rootId"] for node in api.get(f"/decisions/{first}/impact", limit=2)["nodes"]]
    assert re.findall(r'data-node="([^"]+)"', cut) == nearest
    assert "?all=1" in cut
    whole = browser.get(f"/decisions/{first}?all=1")
    assert len(re.findall(r'data-node="([^"]+)"', whole)) == 3
    assert "?all=1" not in whole


def test_only_pages_with_a_graph_load_the_library(browser: Browser, api: Api) -> None:
    root = save(api, "하나")
    assert "cytoscape" in browser.get(f"/decisions/{root}")
    assert "cytoscape" not in browser.get("/decisions")
    assert browser.http.get("/console/static/0/cytoscape.LICENSE.txt").status_code == 200


def test_a_proposal_shows_the_report_and_saves_nothing(browser: Browser, api: Api) -> None:
    first, second, *_ = chain(api)
    rival = save(api, "장부로 계산한다", ("CONFLICTS_WITH", first))
    form: dict[str, str | list[str]] = {**FORM, "statement": "새로 계산한다", "root": first, "version": "1"}
    body = {**DECISION, "statement": "새로 계산한다", "rootId": first}
    report = api.post("/decisions/proposals", body)
    page = browser.post("/decisions/proposals", form, 200).text
    assert [each["rootId"] for each in report["guardian"]["conflicts"]] == [rival]
    for each in report["guardian"]["conflicts"]:
        assert each["statement"] in text_of(page)
    nodes = {node["rootId"] for node in report["impact"]["nodes"]}
    assert second in nodes
    assert set(re.findall(r'data-node="([^"]+)"', page)) == nodes
    assert api.get(f"/decisions/{first}")["decision"]["version"] == 1


def test_saving_makes_the_next_version_and_the_history_has_both(browser: Browser, api: Api) -> None:
    first = save(api, "처음")
    other = save(api, "다른 것")
    edit = browser.get(f"/decisions/{first}/edit")
    assert 'name="version" value="1"' in edit
    form: dict[str, str | list[str]] = {
        **FORM,
        "statement": "나중",
        "rationale": "까닭\r\n둘째 줄",
        "root": first,
        "version": "1",
        "type": ["CONSTRAINS", "DEPENDS_ON"],
        "target": [other, ""],
    }
    browser.post("/decisions/save", form)
    decision = api.get(f"/decisions/{first}")["decision"]
    assert (decision["statement"], decision["rationale"], decision["version"]) == ("나중", "까닭\n둘째 줄", 2)
    relations = api.get(f"/decisions/{first}/relations")["relations"]
    assert [(each["type"], each["target"]) for each in relations] == [("CONSTRAINS", other)]
    shown = text_of(browser.get(f"/decisions/{first}"))
    assert "처음" in shown
    assert "Version 2" in shown


def test_the_second_of_two_tabs_sees_the_conflict(browser: Browser, api: Api) -> None:
    root = save(api, "처음")
    form: dict[str, str | list[str]] = {**FORM, "root": root, "version": "1"}
    browser.post("/decisions/save", {**form, "statement": "첫째 탭"})
    conflict = browser.post("/decisions/save", {**form, "statement": "둘째 탭"}, 409).text
    assert "첫째 탭" in conflict
    assert "둘째 탭" in conflict
    assert 'name="version" value="2"' in conflict
    assert api.get(f"/decisions/{root}")["decision"]["statement"] == "첫째 탭"


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("statement", "", "statement"),
        ("statement", "가" * 4_001, "statement"),
        ("strength", "strong", "strength"),
        ("domain", "global", "domain"),
        ("evidence", "none", "evidence"),
        ("evidence", "3f1e5d7c-9b8a-4c6d-8e0f-1a2b3c4d5e6f", "evidence"),
        ("target", "none", "relations"),
        ("target", "3f1e5d7c-9b8a-4c6d-8e0f-1a2b3c4d5e6f", "relations"),
    ],
)
@pytest.mark.parametrize("path", ["/decisions/proposals", "/decisions/save"])
def test_a_wrong_value_is_named_beside_its_field_and_saves_nothing(
    browser: Browser, api: Api, path: str, field: str, value: str, shown: str
) -> None:
    form: dict[str, str | list[str]] = {**FORM, "statement": "하나", "type": "DEPENDS_ON", field: value}
    assert f'id="error-{shown}"' in browser.post(path, form, 422).text
    assert api.get("/decisions")["decisions"] == []


def test_relations_are_added_and_removed(browser: Browser, api: Api) -> None:
    one, two = save(api, "하나"), save(api, "둘")
    browser.post(f"/decisions/{one}/relations", {"type": "REFINES", "target": two})
    (relation,) = api.get(f"/decisions/{one}/relations")["relations"]
    assert (relation["type"], relation["target"]) == ("REFINES", two)
    for wrong in ({"type": "REFINES", "target": "x"}, {"type": "REFINES", "target": one}):
        assert 'id="error-target"' in browser.post(f"/decisions/{one}/relations", wrong, 422).text
    browser.post(f"/decisions/{one}/relations/{relation['id']}/delete")
    assert api.get(f"/decisions/{one}/relations")["relations"] == []


def test_evidence_is_shown(browser: Browser, api: Api) -> None:
    evidence = api.post("/evidence", {"title": "회의록", "content": "둘째 줄\n까지"}, 201)["evidence"]["id"]
    root = save(api, "하나", evidenceIds=[evidence])
    assert f"/console/decisions/evidence/{evidence}" in browser.get(f"/decisions/{root}")
    assert "둘째 줄\n까지" in browser.get(f"/decisions/evidence/{evidence}")


RECORDS = {
    "0001-stock.md": "---\nstrength: axis\n---\n# 재고는 이동 기록에서만 계산한다\n\n어긋나지 않게\n",
    "0002-reserve.md": "---\nrelations:\n  - DEPENDS_ON 0001-stock.md\n---\n# 출고는 예약에서 뺀다\n",
    "0003-old.md": "---\nstatus: rejected\n---\n# 하지 않기로 한 것\n",
    "README.md": "# Records\n",
}


def upload(browser: Browser, records: dict[str, str], status: int = 200) -> str:
    """Choose these files in the form."""
    files = [("files", (name, text.encode(), "text/markdown")) for name, text in records.items()]
    fields = {"csrf": browser.csrf, "domain": "wms"}
    answer = browser.http.post("/console/decisions/import", data=fields, files=files)
    assert answer.status_code == status, answer.text
    return answer.text


def confirm(browser: Browser, preview: str) -> str:
    """Submit the form below the preview."""
    form = preview.partition('id="preview"')[2].partition("</form>")[0]
    fields = [
        (name, (None, unescape(value))) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)
    ]
    answer = browser.http.post("/console/decisions/import", files=fields)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_markdown_records_are_shown_first_and_imported_then(browser: Browser, api: Api) -> None:
    preview = upload(browser, RECORDS)
    assert text_of(preview).count("added") == 2
    assert "skipped: rejected" in preview
    assert api.get("/decisions")["decisions"] == []
    assert "Imported" in confirm(browser, preview)
    first, second = api.get("/decisions")["decisions"]
    assert (first["statement"], first["strength"], first["domain"]) == (
        "재고는 이동 기록에서만 계산한다",
        "axis",
        "wms",
    )
    relations = api.get(f"/decisions/{second['rootId']}/relations")["relations"]
    assert [(each["type"], each["target"]) for each in relations] == [("DEPENDS_ON", first["rootId"])]
    assert text_of(upload(browser, RECORDS)).count("unchanged") == 2
    unrelated = {**RECORDS, "0002-reserve.md": "---\nrelations: []\n---\n# 출고는 예약에서 뺀다\n"}
    assert "relations changed" in upload(browser, unrelated)


@pytest.mark.parametrize(
    "records", [{}, {"notes.txt": "x"}, {"a.md": "no title"}, {"a.md": "---\nstrength: strong\n---\n# x\n"}]
)
def test_an_invalid_record_is_named_and_nothing_is_imported(
    browser: Browser, api: Api, records: dict[str, str]
) -> None:
    assert 'id="error-files"' in upload(browser, records, 422)
    assert api.get("/decisions")["decisions"] == []


@pytest.mark.parametrize("attack", ["</script><script>alert(1)</script>", "'><img src=x onerror=alert(1)>"])
def test_markup_in_a_decision_is_shown_as_text(browser: Browser, api: Api, attack: str) -> None:
    first = save(api, f"하나 {attack}")
    save(api, f"둘 {attack}", ("DEPENDS_ON", first), rationale=attack)
    pages = [
        browser.get("/decisions"),
        browser.get(f"/decisions/{first}"),
        browser.post("/decisions", {"domain": "wms"}, 200).text,
        browser.post("/decisions/proposals", {**FORM, "statement": attack, "root": first}, 200).text,
    ]
    for page in pages:
        assert attack not in page
        assert not re.search(r"<script(?! src=)|<img src=x", page)
    assert graph_in(pages[1])["nodes"][0]["label"] == f"하나 {attack}"


def test_no_domain_and_no_statement_is_in_a_url(browser: Browser, api: Api) -> None:
    save(api, "비밀", domain="secret-domain")
    page = browser.post("/decisions", {"domain": "secret-domain"}, 200).text + browser.get("/decisions")
    assert not any("secret-domain" in url for url in re.findall(r'(?:href|action)="([^"]*)"', page))
