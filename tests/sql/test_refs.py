"""What may name an owner or a session."""

from __future__ import annotations

import pytest

from gieok.errors import InputRefused
from gieok.refs import check_ref


@pytest.mark.parametrize(
    "ref",
    ["a", "0", "김민지", "user-42", "kim.minji+test@example.org", "tenant:kim_1", "佐藤", "é", "x" * 128],
)
def test_a_plain_name_in_any_script_is_accepted_unchanged(ref: str) -> None:
    assert check_ref(ref, "owner") == ref


@pytest.mark.req("OPS-4")
@pytest.mark.parametrize(
    "ref",
    [
        "",
        " ",
        "kim ",
        "a b",
        "a\0b",
        "a\n",
        "\ta",
        "a\u202eb",
        "a\u200bb",
        "\ud800",
        "김\U0001f600",
        "'kim'",
        'a"b',
        "a/b",
        "a\\b",
        "a%b",
        "-a",
        ".a",
        "@a",
        "\u3164",
        "e\u0301",
        "\u1100\u1161",
        "½",
        "x" * 129,
    ],
)
def test_an_ambiguous_name_is_refused(ref: str) -> None:
    with pytest.raises(InputRefused, match=r"^owner: ") as caught:
        check_ref(ref, "owner")
    assert caught.value.at == "owner"


@pytest.mark.parametrize("value", [None, 7, b"kim", ["kim"]])
def test_a_value_that_is_not_text_is_refused(value: object) -> None:
    with pytest.raises(InputRefused, match="session"):
        check_ref(value, "session")  # pyright: ignore[reportArgumentType] - the mistake under test
