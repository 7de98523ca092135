"""Build what a process needs from its settings: the registry of steps, the vault and the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from gieok.adapters.sql.driver.open import find_keystore, open_keystore
from gieok.engine import AnyStep, Registry
from gieok.errors import StoreDamaged
from gieok.memory import profile, requests, usage
from gieok.memory.canon import remembering
from gieok.memory.canon import steps as canon
from gieok.memory.companion import steps as companion
from gieok.memory.companion.recall.query import NearWords
from gieok.memory.companion.steps.summarize import SessionSummarizer
from gieok.memory.companion.vectors.search import VectorSearch
from gieok.memory.conversation import steps as conversation
from gieok.memory.conversation.steps import ChatModel
from gieok.memory.decisions import steps as decisions
from gieok.memory.decisions.compaction import ConversationSummarizer
from gieok.memory.documents import steps as documents
from gieok.memory.fields import DEFAULT_ACCOUNT_PLAN, AccountPlan
from gieok.memory.jobs import steps as jobs
from gieok.memory.observations import Rememberer
from gieok.memory.sessions import importing as session_importing
from gieok.memory.sessions import remembering as session_remembering
from gieok.memory.sessions import steps as sessions
from gieok.memory.sessions import window as session_window
from gieok.memory.sessions import withdrawal as session_withdrawal
from gieok.memory.turns import steps as turns
from gieok.settings import Settings
from gieok.vault import KeyStore, RootKeySource, Vault, choose_root_key

_RESTORE_KEYSTORE = (
    "restore it, or set GIEOK_KEYSTORE_URL to its location: without it no sealed data can be read, and a new "
    "keystore would not help"
)


class Model(ChatModel, Rememberer, SessionSummarizer, ConversationSummarizer, Protocol):
    """All parts of a language model that the steps use."""


@runtime_checkable
class Closing(Protocol):
    """A model that has connections to close."""

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True)
class Services:
    """The services that the application gives to its steps."""

    model: Model
    """Replies."""
    memory_model: Model
    """Remembers: notes, observations and summaries."""
    vector_search: VectorSearch | None
    """None without a configured embedder: recall then uses words and the other signals."""
    timezone: str
    """The IANA name of the timezone whose days are meant."""
    account_plan: AccountPlan = DEFAULT_ACCOUNT_PLAN
    """The account plan of a new session whose request names none."""
    tokens_per_day: int | None = None
    """Model tokens that an owner may use in a day, whatever a plan allows. None: no limit."""
    near_words: NearWords | None = None
    """Words of similar meaning. None if they are not configured."""


STEP_LISTS: tuple[tuple[type[AnyStep], ...], ...] = (
    turns.STEPS,
    sessions.STEPS,
    session_remembering.STEPS,
    session_importing.STEPS,
    session_withdrawal.STEPS,
    session_window.STEPS,
    conversation.STEPS,
    companion.STEPS,
    canon.STEPS,
    remembering.STEPS,
    decisions.STEPS,
    documents.STEPS,
    jobs.STEPS,
    profile.STEPS,
    requests.STEPS,
    usage.STEPS,
)


def build_registry(
    model: Model,
    vector_search: VectorSearch | None = None,
    steps: Iterable[AnyStep] = (),
    *,
    memory_model: Model | None = None,
    timezone: str = "UTC",
    account_plan: AccountPlan = DEFAULT_ACCOUNT_PLAN,
    tokens_per_day: int | None = None,
    near_words: NearWords | None = None,
) -> Registry:
    """The registry of all steps. `steps` adds a program's own. Raises ValueError if a type is taken."""
    remembering = memory_model or model
    services = Services(model, remembering, vector_search, timezone, account_plan, tokens_per_day, near_words)
    return Registry([*(step(services) for types in STEP_LISTS for step in types), *steps])


def root_key_source(settings: Settings) -> RootKeySource:
    """The root key source of the settings. Raises RootKeyUnsafe for a key file inside the data folder."""
    environ = dict(settings.secrets)
    if settings.root_key_file:
        environ["GIEOK_ROOT_KEY_FILE"] = str(settings.root_key_file)
    # A database directly in the home folder does not make the whole home folder a data folder.
    folder = settings.data_folder
    own_folder = None if folder and Path.home().is_relative_to(folder) else folder
    return choose_root_key(environ, settings.own_key_file, own_folder)


def open_vault(settings: Settings, keystore_id: str | None = None) -> Vault:
    """Open the keystore of the settings with its root key. Blocks for a moment.

    Creates both if they do not exist. With `keystore_id` it opens that keystore only, and raises StoreDamaged
    if it is missing.
    """
    root = root_key_source(settings)
    open_it = find_keystore if keystore_id else open_keystore
    keystore = open_it(settings.keystore_url, beside=settings.database_url)
    if keystore is None:
        raise StoreDamaged(f"the keystore of this database is missing; {_RESTORE_KEYSTORE}")
    try:
        if keystore_id:
            check_keystore(keystore, keystore_id)
        return Vault(keystore, root)
    except BaseException:
        keystore.close()
        raise


def check_keystore(keystore: KeyStore, keystore_id: str) -> None:
    """Raise StoreDamaged unless the keystore has this id, which the database stores."""
    head = keystore.head()
    if head is None or head.keystore_id != keystore_id:
        raise StoreDamaged(
            f"the keystore {keystore.location} belongs to another database; {_RESTORE_KEYSTORE}"
        )


def choose_model(settings: Settings) -> Model:
    """The model of the settings. Raises SettingsInvalid with what to install or to set.

    The first call may take seconds, because it loads the provider's library.
    """
    from gieok.adapters.models.choose import choose_model as choose  # noqa: PLC0415  its rules load when used

    return choose(settings, settings.model)


def choose_memory_model(settings: Settings) -> Model | None:
    """The model that remembers, if the settings name another one than the model that replies."""
    from gieok.adapters.models.choose import choose_model as choose  # noqa: PLC0415

    name = settings.memory_model
    return choose(settings, name) if name is not None and name != settings.model else None


def offline_model() -> Model:
    """The offline model, which needs no network and no API key."""
    from gieok.adapters.models.offline import OfflineModel  # noqa: PLC0415  its rules load when first used

    return OfflineModel()
