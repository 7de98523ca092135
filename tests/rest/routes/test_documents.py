"""Documents over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rest.routes.conftest import Api

WHERE: dict[str, Any] = {"namespace": ["notes", "work"], "key": "면접"}
NOTE: dict[str, Any] = {**WHERE, "value": {"text": "내일 면접이 있다", "n": 5}}
PLACE = "/documents?namespace=notes&namespace=work&key=%EB%A9%B4%EC%A0%91"


@pytest.mark.req("INT-3")
def test_a_document_is_written_read_and_deleted(api: Api) -> None:
    saved = api.call("PUT", "/documents", json=NOTE | {"ttlSeconds": 60})["document"]
    assert (saved["version"], saved["namespace"], saved["ttlSeconds"]) == (1, ["notes", "work"], 60)
    assert saved["expiresAt"].endswith("Z")
    api.call("PUT", "/documents", json=NOTE)
    document = api.get("/documents", **WHERE)["document"]
    assert (document["value"], document["version"], document["expiresAt"]) == (NOTE["value"], 2, None)
    history = api.get("/documents/history", **WHERE)["versions"]
    assert [each["version"] for each in history] == [1, 2]
    assert api.call("DELETE", PLACE) == {"success": True}
    assert api.call("GET", PLACE, 404)["error"] == "NOT_FOUND"
    assert api.call("DELETE", PLACE, 404)["error"] == "NOT_FOUND"


@pytest.mark.req("INT-3")
def test_a_search_explains_its_hits(api: Api) -> None:
    api.call("PUT", "/documents", json=NOTE)
    api.call("PUT", "/documents", json=NOTE | {"key": "other", "value": {"text": "rain", "n": 1}})
    (hit,) = api.post("/documents/search", {"namespace": ["notes"], "query": "면접은?"})["documents"]
    assert hit["key"] == "면접"
    assert hit["why"]["matchedWords"] == ["면접"]
    assert hit["score"] > 1
    (listed,) = api.post("/documents/search", {"filter": {"n": {"$lt": 5}}})["documents"]
    assert (listed["key"], listed["score"], listed["why"]) == ("other", None, None)


@pytest.mark.req("INT-3")
def test_vectors_of_the_caller_are_searched_by_similarity(api: Api) -> None:
    one, two = {"space": "m", "values": [[1, 0]]}, {"space": "m", "values": [[0, 1], [1, 1]]}
    api.call("PUT", "/documents", json=NOTE | {"vectors": one})
    api.call("PUT", "/documents", json=NOTE | {"key": "other", "vectors": two})
    asked = {"query": "면접", "vector": {"space": "m", "values": [1, 0]}}
    first, second = api.post("/documents/search", asked)["documents"]
    assert (first["key"], first["score"], second["key"]) == ("면접", 1.0, "other")
    assert first["why"]["signals"]["vector"] == {"value": 1.0, "weight": 1.0, "rank": 1}
    wrong = {"space": "m", "values": [[1], [1, 2]]}
    refused = api.call("PUT", "/documents", 422, json=NOTE | {"vectors": wrong})
    assert refused["at"].startswith("vectors")


def test_namespaces_are_listed(api: Api) -> None:
    api.call("PUT", "/documents", json=NOTE)
    api.call("PUT", "/documents", json=NOTE | {"namespace": ["notes", "home", "*"]})
    assert api.get("/documents/namespaces")["namespaces"] == [["notes", "home", "*"], ["notes", "work"]]
    found = api.get("/documents/namespaces", prefix=["notes", "*"], maxDepth=2, limit=1)["namespaces"]
    assert found == [["notes", "home"]]
    assert api.get("/documents/namespaces", suffix="work")["namespaces"] == [["notes", "work"]]


def test_a_batch_is_stored_whole_or_not_at_all(api: Api) -> None:
    put = {"op": "put", **NOTE}
    get = {"op": "get", **WHERE}
    results = api.post("/documents/batch", {"operations": [get, put, {"op": "namespaces"}]})["results"]
    assert results[0]["document"] is None
    assert results[1]["saved"]["version"] == 1
    assert results[2]["namespaces"] == []
    wrong = {"op": "search", "filter": {"n": {"$near": 1}}}
    refused = api.post("/documents/batch", {"operations": [put, wrong]}, 422)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", "filter")
    assert api.get("/documents", **WHERE)["document"]["version"] == 1
    (deleted,) = api.post("/documents/batch", {"operations": [get | {"op": "delete"}]})["results"]
    assert deleted["deleted"] is True


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"namespace": []}, "namespace"),
        ({"namespace": "notes"}, "namespace"),
        ({"namespace": ["a"] * 17}, "namespace"),
        ({"namespace": [1]}, "namespace[0]"),
        ({"key": ""}, "key"),
        ({"value": []}, "value"),
        ({"value": {"a": "x" * 300_000}}, "value"),
        ({"ttlSeconds": 0}, "ttlSeconds"),
        ({"owner": "someone"}, "owner"),
    ],
)
def test_wrong_input_is_refused_with_its_place(api: Api, change: dict[str, Any], at: str) -> None:
    refused = api.call("PUT", "/documents", 422, json=NOTE | change)
    assert (refused["error"], refused["at"]) == ("VALIDATION_FAILED", at)
    assert api.get("/documents/namespaces")["namespaces"] == []
