"""Every step, the vault and the model put together: the only place that knows every concrete class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from gieok.adapters.sql.driver.open import find_keystore, open_keystore
from gieok.engine import AnyStep, Registry
from gieok.errors import StoreDamaged
from gieok.memory.canon import steps as canon
from gieok.memory.canon.extractor import FactExtractor
from gieok.memory.companion import steps as companion
from gieok.memory.companion.steps.summarize import SessionSummarizer
from gieok.memory.companion.vectors.search import VectorSearch
from gieok.memory.conversation import steps as conversation
from gieok.memory.conversation.model import ChatModel
from gieok.memory.decisions import steps as decisions
from gieok.memory.decisions.compaction import ConversationSummarizer
from gieok.memory.jobs import steps as jobs
from gieok.memory.requests import steps as requests
from gieok.memory.sessions import steps as sessions
from gieok.memory.turns import steps as turns
from gieok.memory.turns.summarizer import TurnSummarizer
from gieok.memory.usage import steps as usage
from gieok.settings import Settings
from gieok.vault import KeyStore, RootKeySource, Vault, choose_root_key

_PUT_BACK = (
    "put it back, or set GIEOK_KEYSTORE_URL to where it is: without it nothing that was sealed can be read, "
    "and a new one would not help"
)


class Model(ChatModel, TurnSummarizer, SessionSummarizer, ConversationSummarizer, FactExtractor, Protocol):
    """Everything that the steps ask of a language model."""


@runtime_checkable
class Closing(Protocol):
    """A model that holds connections."""

    async def close(self) -> None:
        """Let go of them."""
        ...


@dataclass(frozen=True)
class Services:
    """What the application offers to steps."""

    model: Model
    embedder: VectorSearch | None
    """None where no embedder is configured: recall then uses words and the other signals."""


ROOMS: tuple[tuple[type[AnyStep], ...], ...] = (
    turns.STEPS,
    sessions.STEPS,
    conversation.STEPS,
    companion.STEPS,
    canon.STEPS,
    decisions.STEPS,
    jobs.STEPS,
    requests.STEPS,
    usage.STEPS,
)


def build_registry(
    model: Model, embedder: VectorSearch | None = None, steps: Iterable[AnyStep] = ()
) -> Registry:
    """Every step that a plan may name. `steps` adds a program's own; ValueError where a type is taken."""
    services = Services(model, embedder)
    return Registry([*(step(services) for room in ROOMS for step in room), *steps])


def root_key_source(settings: Settings) -> RootKeySource:
    """Where the settings take the root key from. RootKeyUnsafe for a file inside the data folder."""
    environ = dict(settings.secrets)
    if settings.root_key_file:
        environ["GIEOK_ROOT_KEY_FILE"] = str(settings.root_key_file)
    # The home folder holds everything of a user: a database that lies there does not make it a data folder.
    folder = settings.data_folder
    own_folder = None if folder and Path.home().is_relative_to(folder) else folder
    return choose_root_key(environ, settings.own_key_file, own_folder)


def open_vault(settings: Settings, keystore_id: str | None = None) -> Vault:
    """The keystore that the settings name, opened with its root key. Blocks for a moment.

    Both are made if they are not there, unless it must be the keystore with `keystore_id`: StoreDamaged
    where that one is not found.
    """
    root = root_key_source(settings)
    keystore = find_keystore(settings.keystore_url) if keystore_id else open_keystore(settings.keystore_url)
    if keystore is None:
        raise StoreDamaged(f"the keystore that this database was sealed with is gone; {_PUT_BACK}")
    try:
        if keystore_id:
            check_keystore(keystore, keystore_id)
        return Vault(keystore, root)
    except BaseException:
        keystore.close()
        raise


def check_keystore(keystore: KeyStore, keystore_id: str) -> None:
    """StoreDamaged unless the keystore is the one that a database remembers."""
    head = keystore.head()
    if head is None or head.keystore_id != keystore_id:
        raise StoreDamaged(
            f"the keystore {keystore.location} is not the one that this database was sealed with; {_PUT_BACK}"
        )


def choose_model(settings: Settings) -> Model:
    """The model that the settings name. SettingsInvalid says what is to be installed or set.

    It may take seconds the first time, because a provider's library is loaded.
    """
    from gieok.adapters.models.choose import choose_model as choose  # noqa: PLC0415  its rules load when used

    return choose(settings)


def offline_model() -> Model:
    """The model that needs no network and no key."""
    from gieok.adapters.models.offline import OfflineModel  # noqa: PLC0415  its rules load when first used

    return OfflineModel()
