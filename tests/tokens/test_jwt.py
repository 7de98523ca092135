"""JWTs of a foreign sign-on: what lets a caller in, and everything that must not."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import hmac
import json
import logging
from pathlib import Path
from typing import Any, get_args

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from gieok import Gieok, Settings
from gieok.access import ALL_SCOPES, Principal
from gieok.adapters.jwt import JwtVerifier
from gieok.errors import StoreUnavailable, Unauthenticated
from gieok.settings.jwt import JwtAlgorithm
from tests.tokens.sign_on import SignOn, new_key, published

PAST = 1_000_000_000
FUTURE = 100_000_000_000


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def sign_on() -> SignOn:
    return SignOn()


@pytest.fixture
def jwks(sign_on: SignOn, tmp_path: Path) -> Path:
    """The keys in a file."""
    path = tmp_path / "jwks.json"
    sign_on.write(path)
    return path


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(sign_on: SignOn, jwks: Path, clock: Clock) -> JwtVerifier:
    return JwtVerifier(sign_on.settings(jwks), clock)


async def refused(verifier: JwtVerifier, token: str) -> None:
    with pytest.raises(Unauthenticated):
        await verifier.verify(token)


def forged(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None = None) -> str:
    """A JWT made by hand: no library would sign this."""
    parts = [base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in (header, claims)]
    signed = b".".join(parts)
    signature = hmac.digest(secret, signed, hashlib.sha256) if secret else b"none"
    return (signed + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


@pytest.mark.parametrize("algorithm", get_args(JwtAlgorithm))
async def test_a_jwt_of_the_sign_on_stands_for_its_subject(algorithm: JwtAlgorithm, tmp_path: Path) -> None:
    sign_on = SignOn(algorithm)
    sign_on.write(tmp_path / "jwks.json")
    verifier = JwtVerifier(sign_on.settings(tmp_path / "jwks.json"))
    assert await verifier.verify(sign_on.sign()) == Principal("kim", "free", ALL_SCOPES, None)


async def test_claims_say_the_plan_and_the_scopes(sign_on: SignOn, verifier: JwtVerifier) -> None:
    """Scopes that are meant for others give nothing here."""
    token = sign_on.sign(gieok_plan="premium", scope="openid read profile", aud=["other", "gieok"])
    assert await verifier.verify(token) == Principal("kim", "premium", frozenset({"read"}), None)
    assert (await verifier.verify(sign_on.sign(scope="openid"))).scopes == frozenset()


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-service"},
        {"aud": None},
        {"exp": PAST},
        {"exp": None},
        {"nbf": FUTURE},
        {"sub": None},
        {"sub": ""},
        {"sub": "a b"},
        {"sub": "x" * 129},
        {"gieok_plan": "gold"},
        {"gieok_plan": ["premium"]},
        {"scope": 5},
    ],
    ids=str,
)
async def test_claims_that_are_not_right_let_nobody_in(
    sign_on: SignOn, verifier: JwtVerifier, claims: dict[str, Any]
) -> None:
    await refused(verifier, sign_on.sign(**claims))


async def test_no_algorithm_but_the_one_is_accepted(sign_on: SignOn, verifier: JwtVerifier) -> None:
    """Not `none`, not HS256 with the public key as its secret, not another one that is good elsewhere."""
    claims = jwt.decode(sign_on.sign(), options={"verify_signature": False})
    assert await verifier.verify(sign_on.sign())
    for alg in ("none", "None", "HS256", "ES256"):
        header = {"alg": alg, "kid": "first", "typ": "JWT"}
        await refused(verifier, forged(header, claims))
        await refused(verifier, forged(header, claims, secret=sign_on.public_pem()))
        await refused(verifier, forged(header, claims).rpartition(".")[0] + ".")
    other = SignOn("RS256")
    sign_on.keys["first"], sign_on.algorithm = other.keys["first"], "RS256"
    await refused(verifier, sign_on.sign())


async def test_a_signature_of_somebody_else_is_refused(sign_on: SignOn, verifier: JwtVerifier) -> None:
    """Also where the JWT brings its own key along, or says where to fetch one."""
    stranger = SignOn()
    await refused(verifier, stranger.sign())
    own_key = json.loads(stranger.jwks())["keys"][0]
    for extra in ({"jwk": own_key}, {"jku": "https://evil.example/jwks.json"}):
        claims = jwt.decode(stranger.sign(), options={"verify_signature": False})
        await refused(
            verifier,
            jwt.encode(claims, stranger.keys["first"], algorithm="ES256", headers={"kid": "first", **extra}),
        )


async def test_what_is_no_jwt_is_refused(sign_on: SignOn, verifier: JwtVerifier) -> None:
    good = sign_on.sign()
    head, body, signature = good.split(".")
    no_kid = jwt.encode({"sub": "kim"}, sign_on.keys["first"], algorithm="ES256")
    for token in (
        "",
        ".",
        "..",
        "a.b.c",
        "가.나.다",
        "\0.\0.\0",
        "\ud800.a.b",
        good + "\n",
        f"{head}.{body}",
        f"{head}.{body}.",
        f"{head}.{body}.{signature[::-1]}",
        f"{head}.{body[:-2]}.{signature}",
        f"{head}.{'A' * 10_000}.{signature}",
        forged({"alg": "ES256", "kid": 5}, {}),
        forged({"alg": ["ES256"], "kid": "first"}, {}),
        no_kid,
    ):
        await refused(verifier, token)


async def test_a_key_that_is_new_is_found(
    sign_on: SignOn, verifier: JwtVerifier, jwks: Path, clock: Clock
) -> None:
    """But not more often than once a minute, whoever asks."""
    assert await verifier.verify(sign_on.sign())
    sign_on.keys["second"] = new_key("ES256")
    sign_on.write(jwks)
    clock.now = 59
    await refused(verifier, sign_on.sign("second"))
    clock.now = 60
    assert await verifier.verify(sign_on.sign("second"))


async def test_a_key_that_was_withdrawn_is_refused_after_a_while(
    sign_on: SignOn, verifier: JwtVerifier, jwks: Path, clock: Clock
) -> None:
    token = sign_on.sign()
    assert await verifier.verify(token)
    sign_on.keys = {"second": new_key("ES256")}
    sign_on.write(jwks)
    clock.now = 600
    await refused(verifier, token)
    assert await verifier.verify(sign_on.sign("second"))


async def test_without_any_keys_nobody_can_say(
    sign_on: SignOn, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """It is the service that fails, not the caller; the log says why, and keys that come later are used."""
    path = tmp_path / "jwks.json"
    verifier = JwtVerifier(sign_on.settings(path), clock)
    other = SignOn("EdDSA")
    for content in (
        None,
        "not json",
        "[]",
        '{"keys": []}',
        '{"keys": [{"kty": "oct", "k": "YQ"}]}',
        other.jwks(),
    ):
        if content is not None:
            path.write_text(content)
        with pytest.raises(StoreUnavailable, match="log"):
            await verifier.verify(sign_on.sign())
        assert "the keys of jwt_jwks cannot be read" in caplog.records[-1].message
        clock.now += 60
    sign_on.write(path)
    assert await verifier.verify(sign_on.sign())


async def test_a_weak_key_is_not_used(tmp_path: Path) -> None:
    sign_on = SignOn("RS256")
    sign_on.keys["weak"] = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    sign_on.write(tmp_path / "jwks.json")
    verifier = JwtVerifier(sign_on.settings(tmp_path / "jwks.json"))
    assert await verifier.verify(sign_on.sign())
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = sign_on.sign("weak")
    await refused(verifier, token)


async def test_keys_are_fetched_once_for_all_who_wait(sign_on: SignOn, clock: Clock) -> None:
    """And once a minute for kids that nobody knows, however many come."""
    with published(sign_on) as place:
        verifier = JwtVerifier(sign_on.settings(place.url), clock)
        await asyncio.gather(*(verifier.verify(sign_on.sign()) for _ in range(5)))
        assert place.asked == 1
        stranger = SignOn()
        stranger.keys = {str(number): new_key("ES256") for number in range(5)}
        clock.now = 60
        for kid in stranger.keys:
            await refused(verifier, stranger.sign(kid))
        assert place.asked == 2


async def test_keys_that_are_known_go_on_while_the_sign_on_is_away(
    sign_on: SignOn, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """An error, a redirect to who knows where, and no server at all."""
    with published(sign_on) as place:
        verifier = JwtVerifier(sign_on.settings(place.url), clock)
        assert await verifier.verify(sign_on.sign())
        for status in (500, 302):
            place.status = status
            clock.now += 600
            assert await verifier.verify(sign_on.sign())
            assert f"it answers {status}" in caplog.text
    clock.now += 600
    assert await verifier.verify(sign_on.sign())
    assert "ConnectError" in caplog.text
    assert place.url not in "".join(each.message for each in caplog.records if each.name.startswith("gieok"))


async def test_a_caller_who_leaves_does_not_take_the_keys_along(
    sign_on: SignOn, jwks: Path, clock: Clock
) -> None:
    verifier = JwtVerifier(sign_on.settings(jwks), clock)
    leaving = asyncio.create_task(verifier.verify(sign_on.sign()))
    await asyncio.sleep(0)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert await verifier.verify(sign_on.sign())


async def test_tokens_and_jwts_are_accepted_side_by_side(
    settings: Settings, sign_on: SignOn, jwks: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """On both databases; a name that was erased here is refused, though the sign-on goes on."""
    caplog.set_level(logging.DEBUG)
    both = dataclasses.replace(settings, jwt=sign_on.settings(jwks))
    async with await Gieok.open(both) as gieok:
        made = await gieok.tokens.create("lee")
        assert (await gieok.tokens.authenticate(made.token)).token_id == made.record.id
        token = sign_on.sign()
        assert (await gieok.tokens.authenticate(token)).owner == "kim"
        await gieok.user("kim").erase()
        for nobody in (token, "gk_" + "A" * 43, "nonsense", ""):
            with pytest.raises(Unauthenticated):
                await gieok.tokens.authenticate(nobody)
    assert token not in caplog.text


async def test_without_a_sign_on_no_jwt_is_accepted(gieok: Gieok, sign_on: SignOn) -> None:
    with pytest.raises(Unauthenticated):
        await gieok.tokens.authenticate(sign_on.sign())
