"""Webhooks: signed, retried, never to private addresses, without content unless requested."""

from __future__ import annotations

import base64
import hmac
import logging
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import pytest

from gieok import Gieok, Settings
from gieok.adapters.sql.lifecycle.owners import rotate_data_key
from gieok.adapters.webhooks import WebhookSender
from gieok.errors import Conflict, DeliveryFailed, InputRefused, NotFound
from gieok.memory.canon.records import PersonaDraft
from gieok.memory.companion.records import MemoryDraft
from gieok.memory.events.webhooks import MAX_BODY_BYTES, MAX_WEBHOOKS, check_url, is_public
from gieok.memory.observations import Category
from gieok.memory.requests import RequestKey
from gieok.testing.clock import Clock
from tests.behind import Behind
from tests.events.certificate import make_certificate
from tests.events.consumers import work
from tests.events.receiver import Received, Receiver
from tests.events.test_delivery import store
from tests.owner_data.world import fill
from tests.sessions.conversation import said

OWNER = "mina"
HANA = PersonaDraft(name="하나", language="ko", system_prompt="너는 하나야.")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def gieok(settings: Settings, clock: Clock) -> AsyncIterator[Gieok]:
    """Gieok whose webhooks may go to this machine, without background work."""
    async with await Gieok.open(settings, clock=clock, background=False) as opened:
        opened.webhook_sender = WebhookSender(allow_private=True, seconds=1.0)
        yield opened


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as opened:
        yield opened


def verify(secret: str, request: Received) -> bool:
    """As Standard Webhooks says: over id, timestamp and body."""
    headers = request.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.new(key, signed, sha256).digest()).decode()
    return hmac.compare_digest(expected, headers["webhook-signature"])


async def test_events_are_sent_signed_and_in_order(gieok: Gieok, receiver: Receiver, clock: Clock) -> None:
    new = await gieok.user(OWNER).webhooks.add(receiver.url)
    await store(gieok, "a", "b")
    await work(gieok)
    assert receiver.numbers == [1, 2]
    first = receiver.received[0]
    assert all(verify(new.secret, each) for each in receiver.received)
    assert not verify(new.secret, first._replace(body=first.body + b" "))
    assert first.headers["webhook-timestamp"] == str(int(clock().timestamp()))
    assert first.headers["content-type"] == "application/json"
    assert first.event["type"] == "persona.created"
    assert first.event["data"] == {"number": 1, "subject": "a"}
    assert len({each.headers["webhook-id"] for each in receiver.received}) == 2


async def test_only_the_chosen_kinds_are_sent(gieok: Gieok, receiver: Receiver, behind: Behind) -> None:
    await gieok.user(OWNER).webhooks.add(receiver.url, events=["persona.deleted"])
    await store(gieok, "a", "b")
    await gieok.user(OWNER).personas.delete("a")
    await work(gieok)
    assert [each.event["type"] for each in receiver.received] == ["persona.deleted"]
    assert behind.count("events") == 0


async def test_no_content_is_sent_unless_requested(gieok: Gieok, receiver: Receiver) -> None:
    await gieok.user(OWNER).webhooks.add(receiver.url)
    await fill(gieok.user(OWNER))
    await work(gieok)
    assert len(receiver.received) > 30
    everything = b"".join(each.body for each in receiver.received).decode()
    for word in ("면접", "민수", "개발자", "부산", "너는"):
        assert word not in everything


async def test_content_is_sent_on_request(gieok: Gieok, receiver: Receiver) -> None:
    user = gieok.user(OWNER)
    await user.webhooks.add(receiver.url, include_content=True)
    await user.personas.create(HANA, persona_id="hana")
    await user.sessions.start("hana", plan="chat_turn", session_ref="talk")
    await user.sessions.save_messages("talk", said(1, 1))
    draft = MemoryDraft(persona_id="hana", summary="면접 이야기를 나눔.", topics=("면접",))
    memory = (await user.companion.create(draft)).memory
    await user.canon.set_fact("hana", Category.GOAL, "취업", "개발자")
    await user.documents.put(("notes",), "a", {"text": "김치"})
    await user.companion.delete(memory.id)
    await work(gieok)
    contents = {each.event["type"]: each.event["data"]["content"] for each in receiver.received}
    assert contents["persona.created"]["name"] == "하나"
    assert contents["message.stored"]["content"] == said(1, 1)[0].content
    assert contents["fact.set"]["value"] == "개발자"
    assert contents["document.saved"]["value"] == {"text": "김치"}
    assert contents["session.started"] is None
    assert contents["memory.created"] is None, "it was deleted before the delivery"


async def test_content_that_is_too_large_is_left_out(gieok: Gieok, receiver: Receiver) -> None:
    user = gieok.user(OWNER)
    await user.webhooks.add(receiver.url, include_content=True)
    await user.documents.put(("notes",), "a", {"text": "x" * (MAX_BODY_BYTES - 100)})
    await work(gieok)
    data = receiver.received[0].event["data"]
    assert (data["content"], data["contentOmitted"]) == (None, True)


@pytest.mark.parametrize(("status", "reason"), [(500, "HTTP_500"), (302, "HTTP_302"), (404, "HTTP_404")])
async def test_a_failing_receiver_is_tried_again_with_the_same_id(
    gieok: Gieok, receiver: Receiver, clock: Clock, status: int, reason: str
) -> None:
    """A redirect is a failure, and is not followed."""
    await gieok.user(OWNER).webhooks.add(receiver.url)
    receiver.statuses = [status, status]
    await store(gieok, "a", "b")
    await work(gieok)
    (job,) = [job for job in await gieok.user(OWNER).jobs.list() if job.kind == "deliver"]
    assert (job.status, job.error) == ("queued", reason)
    clock.advance(seconds=5)
    await work(gieok)
    clock.advance(minutes=5)
    await work(gieok)
    assert receiver.numbers == [1, 1, 1, 2]
    assert len({each.headers["webhook-id"] for each in receiver.received[:3]}) == 1
    assert {each.path for each in receiver.received} == {"/hook"}


async def test_a_receiver_that_hangs_times_out(gieok: Gieok, receiver: Receiver) -> None:
    await gieok.user(OWNER).webhooks.add(receiver.url)
    receiver.hang.set()
    await store(gieok, "a")
    await work(gieok)
    (job,) = [job for job in await gieok.user(OWNER).jobs.list() if job.kind == "deliver"]
    assert job.error == "TIMEOUT"


async def test_what_the_receiver_has_accepted_is_not_sent_again(
    gieok: Gieok, receiver: Receiver, clock: Clock
) -> None:
    await gieok.user(OWNER).webhooks.add(receiver.url)
    receiver.statuses = [200, 200, 503]
    await store(gieok, "a", "b", "c", "d")
    await work(gieok)
    clock.advance(seconds=5)
    await work(gieok)
    assert receiver.numbers == [1, 2, 3, 3, 4]


async def test_dead_letters_are_listed_and_retried(gieok: Gieok, receiver: Receiver, clock: Clock) -> None:
    user = gieok.user(OWNER)
    webhook = (await user.webhooks.add(receiver.url)).webhook
    receiver.statuses = [500] * 7
    await store(gieok, "a", "b")
    for wait in (0, 5, 300, 1_800, 7_200, 18_000, 36_000):
        clock.advance(seconds=wait)
        await work(gieok)
    assert receiver.numbers == [1] * 7 + [2]
    (letter,) = await user.webhooks.dead_letters(webhook.id)
    assert (letter.event.subject, letter.attempts, letter.error) == ("a", 7, "HTTP_500")
    assert await user.webhooks.dead_letters(webhook.id, after=1) == []
    with pytest.raises(NotFound):
        await user.webhooks.retry(webhook.id, number=2)
    once = RequestKey(key="k", body=b"x")
    assert [await user.webhooks.retry(webhook.id, once=once) for _ in range(2)] == [1, 1]
    await work(gieok)
    assert receiver.numbers[-1] == 1
    assert await user.webhooks.dead_letters(webhook.id) == []


async def test_each_webhook_has_its_own_position(gieok: Gieok, receiver: Receiver) -> None:
    with Receiver() as down:
        down.statuses = [500] * 9
        for each in (down, receiver):
            await gieok.user(OWNER).webhooks.add(each.url)
        await store(gieok, "a", "b")
        await work(gieok)
        assert (down.numbers, receiver.numbers) == ([1], [1, 2])


async def test_a_removed_webhook_gets_nothing_more(gieok: Gieok, receiver: Receiver, behind: Behind) -> None:
    user = gieok.user(OWNER)
    webhook = (await user.webhooks.add(receiver.url)).webhook
    assert [each.id for each in await user.webhooks.list()] == [webhook.id]
    await store(gieok, "a")
    await user.webhooks.remove(webhook.id)
    await store(gieok, "b")
    await work(gieok)
    assert receiver.received == []
    assert behind.count("events") == behind.count("event_consumers") == behind.count("webhooks") == 0
    with pytest.raises(NotFound):
        await user.webhooks.remove(webhook.id)
    actions = [entry.action for entry in await user.audit.list()]
    assert sorted(actions) == ["webhook.added", "webhook.removed"]


async def test_an_owner_has_a_limited_number_of_webhooks(gieok: Gieok, receiver: Receiver) -> None:
    user = gieok.user(OWNER)
    for _ in range(MAX_WEBHOOKS):
        await user.webhooks.add(receiver.url)
    with pytest.raises(Conflict):
        await user.webhooks.add(receiver.url)
    assert len(await user.webhooks.list()) == MAX_WEBHOOKS


async def test_the_secret_and_the_url_are_sealed_and_survive_a_rotation(
    gieok: Gieok, receiver: Receiver, behind: Behind, clock: Clock
) -> None:
    new = await gieok.user(OWNER).webhooks.add(receiver.url)
    assert behind.files_with(new.secret, f"{receiver.port}/hook") == {
        new.secret: [],
        f"{receiver.port}/hook": [],
    }
    await rotate_data_key(gieok.database, gieok.vault, OWNER, clock())
    assert (await gieok.check_integrity()).is_ok
    await store(gieok, "a")
    await work(gieok)
    assert verify(new.secret, receiver.received[0])


async def test_an_added_webhook_is_one_for_each_idempotency_key(gieok: Gieok, receiver: Receiver) -> None:
    user, once = gieok.user(OWNER), RequestKey(key="k", body=b"x")
    first = await user.webhooks.add(receiver.url, once=once)
    assert await user.webhooks.add(receiver.url, once=once) == first
    assert len(await user.webhooks.list()) == 1


async def test_erasure_removes_webhooks_and_sends_nothing(
    gieok: Gieok, receiver: Receiver, behind: Behind
) -> None:
    await gieok.user(OWNER).webhooks.add(receiver.url)
    await store(gieok, "a")
    await gieok.user(OWNER).data.erase()
    await work(gieok)
    assert receiver.received == []
    assert behind.count("webhooks") == behind.count("events") == 0


async def test_no_content_and_no_url_in_the_logs(
    gieok: Gieok, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "gieok")
    await gieok.user(OWNER).webhooks.add(f"{receiver.url}?token=verysecret", include_content=True)
    receiver.statuses = [500]
    await gieok.user(OWNER).documents.put(("notes",), "a", {"text": "김치"})
    await work(gieok)
    assert receiver.received
    assert "verysecret" not in caplog.text
    assert "김치" not in caplog.text


PUBLIC = ("93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808")
PRIVATE = (
    *("127.0.0.1", "127.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "255.255.255.255", "224.0.0.1", "198.18.0.1", "192.0.2.1", "240.0.0.1", "192.0.0.8"),
    *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "fec0::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1"),
    *("64:ff9b::a00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "https://", "https:///x", "//example.com", "x", ""),
        *("https://user:pw@example.com/", "https://example.com/#x", "https://example.com:0/", "https://a b/"),
        *("https://127.0.0.1/", "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://localhost/"),
        *("https://hook.localhost./", "https://169.254.169.254/latest", "https://example.com:99999/"),
        *("https://example.com\\@10.0.0.1/", "https://example.com/\n", "https://예.com/", "https://[::1/"),
        "https://example.com/" + "x" * 2_000,
    ],
)
def test_a_url_that_is_refused(url: str) -> None:
    with pytest.raises(InputRefused, match="url"):
        check_url(url, allow_private=False)


def test_private_addresses_may_be_allowed() -> None:
    for url in ("http://127.0.0.1:8000/x", "http://localhost/", "https://10.0.0.1/"):
        assert check_url(url, allow_private=True) == url


async def test_unknown_kinds_are_refused(gieok: Gieok, receiver: Receiver) -> None:
    with pytest.raises(InputRefused, match="events"):
        await gieok.user(OWNER).webhooks.add(receiver.url, events=["memory.eaten"])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::ffff:127.0.0.1"]])
async def test_a_host_with_a_private_address_is_refused_at_the_delivery(
    receiver: Receiver, addresses: list[str]
) -> None:
    """Whatever the name said when the webhook was added. One private address among many is enough."""

    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return addresses

    sender = WebhookSender(resolve=resolve)
    with pytest.raises(DeliveryFailed) as failed:
        async with sender.receiver(f"https://hook.example:{receiver.port}/"):
            pass
    assert failed.value.reason == "ADDRESS_REFUSED"
    assert receiver.received == []


async def test_the_checked_address_is_the_one_that_is_connected_to(receiver: Receiver) -> None:
    """The name is resolved once: a name server that answers differently the second time changes nothing."""
    asked: list[str] = []

    async def resolve(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    sender = WebhookSender(allow_private=True, resolve=resolve)
    async with sender.receiver(f"http://hook.example:{receiver.port}/x?y=1") as post:
        await post({}, b"1")
        await post({}, b"2")
    assert asked == ["hook.example"]
    assert [each.path for each in receiver.received] == ["/x?y=1"] * 2
    assert receiver.received[0].headers["host"] == f"hook.example:{receiver.port}"


async def test_the_certificate_must_be_that_of_the_name(tmp_path: Path) -> None:
    """Although the connection is made to an address."""
    certificate, key = make_certificate(tmp_path, "hook.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def resolve(_host: str, _port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    trusted = ssl.create_default_context(cafile=str(certificate))
    with Receiver(context) as receiver:
        sender = WebhookSender(allow_private=True, resolve=resolve, verify=trusted)
        async with sender.receiver(f"https://hook.example:{receiver.port}/") as post:
            await post({}, b"1")
        assert len(receiver.received) == 1
        for each, host in (
            (sender, "other.example"),
            (WebhookSender(allow_private=True, resolve=resolve), "hook.example"),
        ):
            with pytest.raises(DeliveryFailed):
                async with each.receiver(f"https://{host}:{receiver.port}/") as post:
                    await post({}, b"2")
        assert len(receiver.received) == 1


async def test_another_owner_sees_no_webhook(gieok: Gieok, receiver: Receiver) -> None:
    webhook = (await gieok.user(OWNER).webhooks.add(receiver.url)).webhook
    stranger = gieok.user("stranger").webhooks
    assert await stranger.list() == []
    for call in (stranger.remove, stranger.dead_letters, stranger.retry):
        with pytest.raises(NotFound):
            await call(webhook.id)
    await store(gieok, "x", owner="stranger")
    await work(gieok)
    assert receiver.received == []


async def test_an_unknown_webhook_is_not_found(gieok: Gieok) -> None:
    with pytest.raises(NotFound):
        await gieok.user(OWNER).webhooks.dead_letters(uuid4())


async def test_dead_letters_are_deleted_after_their_time(
    gieok: Gieok, receiver: Receiver, clock: Clock, behind: Behind
) -> None:
    await gieok.user(OWNER).webhooks.add(receiver.url)
    receiver.statuses = [500]
    await store(gieok, "a")
    clock.advance(days=4)
    await work(gieok)
    assert behind.count("dead_letters") == 1
    clock.now += timedelta(days=31)
    await work(gieok)
    assert behind.count("dead_letters") == 0
