"""What was opened lately: kept for a while, within a limit, and never longer than the keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gieok.vault import FileRootKey, Place, Vault
from gieok.vault.opened import Opened, Shelf
from tests.vault.opening import Opener

HERE = Place("memories", "content", "018f-01")


def counting(value: str) -> tuple[list[str], Callable[[], str]]:
    """How often something was opened, and the opening."""
    calls: list[str] = []

    def open_it() -> str:
        calls.append(value)
        return value

    return calls, open_it


def test_the_same_row_is_opened_once_and_a_changed_one_again() -> None:
    shelf = Shelf(Opened(10))
    calls, open_it = counting("면접")
    assert [shelf.once(row, open_it) for row in (("a", 1), ("a", 1), ("a", 2))] == ["면접"] * 3
    assert len(calls) == 2


def test_the_same_row_of_another_owner_is_opened_with_their_keys() -> None:
    opened = Opened(10)
    assert Shelf(opened).once("row", lambda: "철수") == "철수"
    assert Shelf(opened).once("row", lambda: "영희") == "영희"


def test_what_does_not_open_is_not_kept() -> None:
    shelf = Shelf(Opened(10))

    def fail() -> str:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011  ours, without words
        shelf.once("row", fail)
    assert shelf.once("row", lambda: "opens now") == "opens now"


def test_where_there_is_no_room_the_owner_goes_who_opened_nothing_for_longest() -> None:
    opened = Opened(4)
    old, new = Shelf(opened), Shelf(opened)
    for row in range(3):
        old.once(row, lambda: "old")
    for row in range(2):
        new.once(row, lambda: "new")
    assert (len(old.values), len(new.values), opened.count) == (0, 2, 2)
    for row in range(9):
        new.once(row, lambda: "new")
    assert opened.count == len(new.values) <= 4


class Heavy:
    """A value that is made of many."""

    def __init__(self, weight: int) -> None:
        self.weight = weight


def test_a_value_under_a_name_takes_the_place_of_the_one_before_and_weighs_what_it_says() -> None:
    opened = Opened(10)
    shelf = Shelf(opened)
    assert shelf.find("index") is None
    shelf.keep("index", Heavy(3))
    shelf.keep("index", last := Heavy(5))
    shelf.once("row", lambda: "in clear")
    assert (shelf.find("index"), opened.count) == (last, 6)
    shelf.keep("another", Heavy(5))
    assert (shelf.find("index"), opened.count) == (None, 0)


def test_an_owner_whose_values_are_looked_up_stays_longer() -> None:
    opened = Opened(5)
    used, unused = Shelf(opened), Shelf(opened)
    used.keep("index", Heavy(2))
    unused.keep("index", Heavy(2))
    used.find("index")
    Shelf(opened).keep("index", Heavy(2))
    assert (used.find("index") is None, unused.find("index") is None) == (False, True)


def test_a_closed_shelf_keeps_nothing_any_more() -> None:
    """A transaction that began before an erasure may still open something after it."""
    opened = Opened(10)
    shelf = Shelf(opened)
    shelf.once("row", lambda: "in clear")
    shelf.close()
    assert (shelf.once("row", lambda: "again"), len(shelf.values), opened.count) == ("again", 0, 0)


@pytest.mark.req("OPS-2")
@pytest.mark.parametrize("end", ["erased", "rotated"])
def test_what_was_opened_goes_with_the_keys(vault: Vault, end: str) -> None:
    keys = vault.create("kim")
    sealed = keys.seal(HERE, b"secret")
    calls, open_it = counting("secret")
    for _ in range(2):
        vault.keys("kim").once(sealed, open_it)
    assert len(calls) == 1
    if end == "erased":
        vault.begin_erasure("kim")
    else:
        vault.rotate_owner("kim")
    keys.once(sealed, open_it)
    keys.once(sealed, open_it)
    assert len(calls) == 3


def test_what_was_opened_goes_when_other_owners_take_the_place_of_the_keys(
    keystores: Opener, root: FileRootKey
) -> None:
    vault = Vault(keystores.open(), root, cached_owners=1)
    calls, open_it = counting("secret")
    kim = vault.create("kim")
    kim.once("row", open_it)
    vault.create("lee")
    kim.once("row", open_it)
    vault.keys("kim").once("row", open_it)
    assert len(calls) == 3
