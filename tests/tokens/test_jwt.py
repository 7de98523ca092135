"""JWTs of an identity provider: which are accepted, and which are refused."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import hmac
import json
import logging
import time
from pathlib import Path
from typing import Any, get_args

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from gieok import Gieok, Settings
from gieok.access import OWNER_SCOPES, Principal
from gieok.adapters.jwt_verifier import JwtVerifier
from gieok.errors import StoreUnavailable, Unauthenticated
from gieok.settings import JwtAlgorithm
from tests.tokens.identity_provider import IdentityProvider, new_key, serve_jwks

PAST = 1_000_000_000
FUTURE = 100_000_000_000


class Clock:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def provider() -> IdentityProvider:
    return IdentityProvider()


@pytest.fixture
def jwks(provider: IdentityProvider, tmp_path: Path) -> Path:
    """The keys in a file."""
    path = tmp_path / "jwks.json"
    provider.write(path)
    return path


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(provider: IdentityProvider, jwks: Path, clock: Clock) -> JwtVerifier:
    return JwtVerifier(provider.settings(jwks), clock)


async def refused(verifier: JwtVerifier, token: str) -> None:
    with pytest.raises(Unauthenticated):
        await verifier.verify(token)


def forged(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None = None) -> str:
    """A JWT built by hand, which no library would sign."""
    parts = [base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in (header, claims)]
    signed = b".".join(parts)
    signature = hmac.digest(secret, signed, hashlib.sha256) if secret else b"none"
    return (signed + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


@pytest.mark.parametrize("algorithm", get_args(JwtAlgorithm))
async def test_a_valid_jwt_identifies_its_subject(algorithm: JwtAlgorithm, tmp_path: Path) -> None:
    provider = IdentityProvider(algorithm)
    provider.write(tmp_path / "jwks.json")
    verifier = JwtVerifier(provider.settings(tmp_path / "jwks.json"))
    assert await verifier.verify(provider.sign()) == Principal("kim", "premium", OWNER_SCOPES, None)


async def test_claims_set_the_plan_and_the_scopes(provider: IdentityProvider, verifier: JwtVerifier) -> None:
    """Scopes of other services are ignored."""
    token = provider.sign(gieok_plan="premium", scope="openid read profile", aud=["other", "gieok"])
    assert await verifier.verify(token) == Principal("kim", "premium", frozenset({"read"}), None)
    assert (await verifier.verify(provider.sign(scope="openid"))).scopes == frozenset()


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
async def test_wrong_claims_are_refused(
    provider: IdentityProvider, verifier: JwtVerifier, claims: dict[str, Any]
) -> None:
    await refused(verifier, provider.sign(**claims))


async def test_the_lifetime_of_a_jwt_is_limited(provider: IdentityProvider, jwks: Path) -> None:
    """Without `iat` it counts from now. A time of issue in the future does not make it longer."""
    settings = dataclasses.replace(provider.settings(jwks), jwt_max_hours=2)
    verifier, now = JwtVerifier(settings), int(time.time())
    hour = 3600
    assert await verifier.verify(provider.sign(exp=now + 2 * hour))
    assert await verifier.verify(provider.sign(iat=None, exp=now + 2 * hour))
    assert await verifier.verify(provider.sign(iat=now - hour))
    await refused(verifier, provider.sign(exp=now + 3 * hour))
    await refused(verifier, provider.sign(iat=None, exp=now + 3 * hour))
    await refused(verifier, provider.sign(iat=now - 2 * hour, exp=now + hour))
    await refused(verifier, provider.sign(exp=FUTURE))


async def test_only_the_configured_algorithm_is_accepted(
    provider: IdentityProvider, verifier: JwtVerifier
) -> None:
    """Not `none`, not HS256 with the public key as its secret, and not another secure algorithm."""
    claims = jwt.decode(provider.sign(), options={"verify_signature": False})
    assert await verifier.verify(provider.sign())
    for alg in ("none", "None", "HS256", "ES256"):
        header = {"alg": alg, "kid": "first", "typ": "JWT"}
        await refused(verifier, forged(header, claims))
        await refused(verifier, forged(header, claims, secret=provider.public_pem()))
        await refused(verifier, forged(header, claims).rpartition(".")[0] + ".")
    other = IdentityProvider("RS256")
    provider.keys["first"], provider.algorithm = other.keys["first"], "RS256"
    await refused(verifier, provider.sign())


async def test_a_signature_by_another_key_is_refused(
    provider: IdentityProvider, verifier: JwtVerifier
) -> None:
    """Also where the JWT contains its own key, or the URL of one."""
    stranger = IdentityProvider()
    await refused(verifier, stranger.sign())
    own_key = json.loads(stranger.jwks())["keys"][0]
    for extra in ({"jwk": own_key}, {"jku": "https://evil.example/jwks.json"}):
        claims = jwt.decode(stranger.sign(), options={"verify_signature": False})
        await refused(
            verifier,
            jwt.encode(claims, stranger.keys["first"], algorithm="ES256", headers={"kid": "first", **extra}),
        )


async def test_a_malformed_jwt_is_refused(provider: IdentityProvider, verifier: JwtVerifier) -> None:
    good = provider.sign()
    head, body, signature = good.split(".")
    no_kid = jwt.encode({"sub": "kim"}, provider.keys["first"], algorithm="ES256")
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


async def test_a_new_key_is_fetched(
    provider: IdentityProvider, verifier: JwtVerifier, jwks: Path, clock: Clock
) -> None:
    """At most once a minute."""
    assert await verifier.verify(provider.sign())
    provider.keys["second"] = new_key("ES256")
    provider.write(jwks)
    clock.now = 59
    await refused(verifier, provider.sign("second"))
    clock.now = 60
    assert await verifier.verify(provider.sign("second"))


async def test_a_withdrawn_key_is_refused_after_the_ttl(
    provider: IdentityProvider, verifier: JwtVerifier, jwks: Path, clock: Clock
) -> None:
    token = provider.sign()
    assert await verifier.verify(token)
    provider.keys = {"second": new_key("ES256")}
    provider.write(jwks)
    clock.now = 600
    await refused(verifier, token)
    assert await verifier.verify(provider.sign("second"))


async def test_without_keys_the_verifier_is_unavailable(
    provider: IdentityProvider, tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """An error of the service, not of the caller. The log says why; keys that appear later are used."""
    path = tmp_path / "jwks.json"
    verifier = JwtVerifier(provider.settings(path), clock)
    other = IdentityProvider("EdDSA")
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
            await verifier.verify(provider.sign())
        assert "the keys of jwt_jwks cannot be read" in caplog.records[-1].message
        clock.now += 60
    provider.write(path)
    assert await verifier.verify(provider.sign())


async def test_a_weak_key_is_not_used(tmp_path: Path) -> None:
    provider = IdentityProvider("RS256")
    provider.keys["weak"] = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    provider.write(tmp_path / "jwks.json")
    verifier = JwtVerifier(provider.settings(tmp_path / "jwks.json"))
    assert await verifier.verify(provider.sign())
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = provider.sign("weak")
    await refused(verifier, token)


async def test_concurrent_callers_share_one_fetch(provider: IdentityProvider, clock: Clock) -> None:
    """And unknown key ids cause at most one fetch a minute."""
    with serve_jwks(provider) as server:
        verifier = JwtVerifier(provider.settings(server.url), clock)
        await asyncio.gather(*(verifier.verify(provider.sign()) for _ in range(5)))
        assert server.requests == 1
        stranger = IdentityProvider()
        stranger.keys = {str(number): new_key("ES256") for number in range(5)}
        clock.now = 60
        for kid in stranger.keys:
            await refused(verifier, stranger.sign(kid))
        assert server.requests == 2


async def test_cached_keys_stay_valid_while_the_provider_is_down(
    provider: IdentityProvider, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """An error status, a redirect, and no server at all."""
    with serve_jwks(provider) as server:
        verifier = JwtVerifier(provider.settings(server.url), clock)
        assert await verifier.verify(provider.sign())
        for status in (500, 302):
            server.status = status
            clock.now += 600
            assert await verifier.verify(provider.sign())
            assert f"the server answered {status}" in caplog.text
    clock.now += 600
    assert await verifier.verify(provider.sign())
    assert "ConnectError" in caplog.text
    assert server.url not in "".join(each.message for each in caplog.records if each.name.startswith("gieok"))


async def test_a_cancelled_caller_does_not_cancel_the_fetch(
    provider: IdentityProvider, jwks: Path, clock: Clock
) -> None:
    verifier = JwtVerifier(provider.settings(jwks), clock)
    cancelled = asyncio.create_task(verifier.verify(provider.sign()))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert await verifier.verify(provider.sign())


async def test_tokens_and_jwts_are_accepted_side_by_side(
    settings: Settings, provider: IdentityProvider, jwks: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """On both databases. An erased owner is refused, although the identity provider still issues JWTs."""
    caplog.set_level(logging.DEBUG)
    both = dataclasses.replace(settings, jwt=provider.settings(jwks))
    async with await Gieok.open(both) as gieok:
        made = await gieok.tokens.create("lee")
        assert (await gieok.tokens.authenticate(made.token)).token_id == made.record.id
        token = provider.sign()
        assert (await gieok.tokens.authenticate(token)).owner == "kim"
        await gieok.user("kim").data.erase()
        for nobody in (token, "gk_" + "A" * 43, "nonsense", ""):
            with pytest.raises(Unauthenticated):
                await gieok.tokens.authenticate(nobody)
    assert token not in caplog.text


@pytest.mark.req("OPS-3")
async def test_a_jwt_of_the_former_owner_of_a_name_is_refused(
    settings: Settings, provider: IdentityProvider, jwks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name was erased and given to somebody else an hour ago; JWTs of before are still valid."""
    hour, now = 3600, int(time.time())
    async with await Gieok.open(dataclasses.replace(settings, jwt=provider.settings(jwks))) as gieok:
        await gieok.user("kim").profile.set(display_name="former")
        before, without_time = provider.sign(iat=now - hour - 60), provider.sign(iat=None)
        after = provider.sign(iat=now - hour + 60)
        for token in (before, without_time, after):
            assert await gieok.tokens.authenticate(token)
        await gieok.user("kim").data.erase()
        monkeypatch.setattr(gieok.vault, "_clock", lambda: now - hour)
        await gieok.tokens.create("kim")
        for token in (before, without_time):
            with pytest.raises(Unauthenticated):
                await gieok.tokens.authenticate(token)
        assert (await gieok.tokens.authenticate(after)).owner == "kim"


async def test_without_jwt_settings_no_jwt_is_accepted(gieok: Gieok, provider: IdentityProvider) -> None:
    with pytest.raises(Unauthenticated):
        await gieok.tokens.authenticate(provider.sign())
