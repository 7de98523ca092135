"""Sealed values open only for the owner and place that they were sealed for."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gieok.errors import SealBroken
from gieok.vault import OwnerKeys, Place
from gieok.vault.blind_index import BlindIndex
from gieok.vault.sealing import Sealer

HERE = Place("turn_memories", "summary", "018f-01", 3)
KEY_ID = bytes(range(8))
KEY = bytes(range(100, 132))
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
places = st.builds(Place, names, names, names, st.integers(0, 2**63 - 1))


def keys_of(owner: str, key_id: bytes = KEY_ID, key: bytes = KEY) -> OwnerKeys:
    """The same key for every owner, so that only the associated data differs."""
    return OwnerKeys(owner, 1, Sealer(owner, {key_id: key}, current=key_id), BlindIndex(KEY))


KIM = keys_of("kim")


def refusal(keys: OwnerKeys, place: Place, sealed: bytes) -> str:
    with pytest.raises(SealBroken) as refused:
        keys.open(place, sealed)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None
    return str(refused.value)


@pytest.fixture(scope="module")
def message() -> str:
    """The single message of every SealBroken."""
    return refusal(KIM, HERE, b"")


@pytest.mark.req("OPS-2")
@given(places, st.binary(max_size=500))
def test_a_sealed_value_opens(place: Place, plaintext: bytes) -> None:
    """Any bytes at any place."""
    assert KIM.open(place, KIM.seal(place, plaintext)) == plaintext


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 1024 * 1024])
def test_any_size_can_be_sealed(size: int) -> None:
    """From zero bytes to a megabyte; the envelope adds 37 bytes."""
    sealed = KIM.seal(HERE, b"x" * size)
    assert (KIM.open(HERE, sealed), len(sealed)) == (b"x" * size, size + 37)


@pytest.mark.req("OPS-2")
def test_a_seal_hides_its_content_and_never_repeats() -> None:
    """Equal values give different ciphertexts."""
    sealed = {KIM.seal(HERE, b"the same secret") for _ in range(1000)}
    assert len(sealed) == 1000
    assert not any(b"secret" in one for one in sealed)


@pytest.mark.req("OPS-2")
def test_every_altered_bit_is_refused(message: str) -> None:
    """Version, key id, nonce, ciphertext and tag are all authenticated."""
    sealed = KIM.seal(HERE, b"a short secret")
    for bit in range(len(sealed) * 8):
        altered = bytearray(sealed)
        altered[bit // 8] ^= 1 << bit % 8
        assert refusal(KIM, HERE, bytes(altered)) == message


def test_every_altered_byte_is_refused(message: str) -> None:
    """Any other value in any position."""
    sealed = KIM.seal(HERE, b"")
    for position in range(len(sealed)):
        for value in range(256):
            altered = sealed[:position] + bytes([value]) + sealed[position + 1 :]
            if altered != sealed:
                assert refusal(KIM, HERE, altered) == message


def test_every_truncation_and_extension_is_refused(message: str) -> None:
    """At either end."""
    sealed = KIM.seal(HERE, b"a short secret")
    for length in range(len(sealed)):
        assert refusal(KIM, HERE, sealed[:length]) == message
        assert refusal(KIM, HERE, sealed[length + 1 :]) == message
    for more in (b"\0", b"\xff", sealed):
        assert refusal(KIM, HERE, sealed + more) == message
        assert refusal(KIM, HERE, more + sealed) == message


@given(st.binary(max_size=200))
def test_plaintext_is_refused(message: str, plaintext: bytes) -> None:
    """A value that was never sealed does not open."""
    assert refusal(KIM, HERE, plaintext) == message
    assert refusal(KIM, HERE, b"\x01" + KEY_ID + plaintext) == message


@pytest.mark.req("OPS-2", "OPS-4")
@pytest.mark.parametrize(
    "elsewhere",
    [
        HERE._replace(table="sessions"),
        HERE._replace(column="keywords"),
        HERE._replace(row="018f-02"),
        HERE._replace(version=4),
        HERE._replace(version=2**32 + 3),
        Place(HERE.column, HERE.table, HERE.row, HERE.version),
        Place("turn_memoriess", "ummary", HERE.row, HERE.version),
        Place(HERE.table, "summary018f", "-01", HERE.version),
        Place(HERE.table + "\0", HERE.column, HERE.row, HERE.version),
    ],
)
def test_a_moved_value_is_refused(message: str, elsewhere: Place) -> None:
    """Table, column, row and version are authenticated and separated unambiguously."""
    assert refusal(KIM, elsewhere, KIM.seal(HERE, b"secret")) == message


@given(st.lists(places, min_size=2, max_size=4, unique=True))
def test_different_places_have_different_associated_data(message: str, different: list[Place]) -> None:
    """For any names, a value opens only at its own place."""
    for here, there in combinations(different, 2):
        assert refusal(KIM, there, KIM.seal(here, b"secret")) == message


@pytest.mark.req("OPS-2", "OPS-4")
def test_a_value_of_another_owner_is_refused(message: str) -> None:
    """Even under the same key, because the owner's name is authenticated."""
    assert refusal(keys_of("lee"), HERE, KIM.seal(HERE, b"secret")) == message
    assert refusal(keys_of("ki"), HERE._replace(table="m" + HERE.table), KIM.seal(HERE, b"secret")) == message


def test_an_unknown_key_is_refused(message: str) -> None:
    """A destroyed key, or another key with the same id, gives the same message as any other failure."""
    sealed = KIM.seal(HERE, b"secret")
    assert refusal(keys_of("kim", key_id=b"8 bytes!"), HERE, sealed) == message
    assert refusal(keys_of("kim", key=bytes(32)), HERE, sealed) == message
    assert refusal(OwnerKeys.unknown("kim"), HERE, sealed) == message


def test_the_stored_format_has_not_changed() -> None:
    """A value that an earlier version sealed still opens."""
    sealed = bytes.fromhex(
        "01"
        "0001020304050607"
        "00112233445566778899aabb"
        "9009cba2934913a1caf7bdf8ccdbe78fa2126b2492dd0ffa848917b6ec8aa4c4b318cc1acdcba2"
    )
    assert KIM.open(HERE, sealed) == "비가 와서 떨렸어".encode()
