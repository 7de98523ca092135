"""Every step, the vault and the model put together: the only place that knows every concrete class."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from gieok.adapters.sql.open import open_keystore
from gieok.adapters.sql.scope import OwnerScope
from gieok.app.canon import register_canon_steps
from gieok.app.companion import register_companion_steps
from gieok.app.decisions import register_decision_steps
from gieok.app.jobs import register_job_steps
from gieok.app.sessions import register_session_steps
from gieok.engine import Registry
from gieok.memory.canon.extractor import FactExtractor
from gieok.memory.companion.summarizer import SessionSummarizer
from gieok.memory.conversation.model import ChatModel
from gieok.memory.conversation.steps import ContextSelect, LLMCall, PromptAssemble
from gieok.memory.decisions.summarizer import ConversationSummarizer
from gieok.memory.turns.steps import PersistMemory, RetrieveMemory, SummarizeMemory
from gieok.memory.turns.summarizer import TurnSummarizer
from gieok.settings import Settings
from gieok.vault import RootKeySource, Vault, choose_root_key


class Model(ChatModel, TurnSummarizer, SessionSummarizer, ConversationSummarizer, FactExtractor, Protocol):
    """Everything that the steps ask of a language model."""


def build_registry(model: Model) -> Registry[OwnerScope]:
    """Every step that a plan may name."""
    registry = Registry[OwnerScope]()
    registry.register(RetrieveMemory, RetrieveMemory)
    registry.register(ContextSelect, lambda _: ContextSelect())
    registry.register(PromptAssemble, lambda _: PromptAssemble())
    registry.register(LLMCall, lambda _: LLMCall(model))
    registry.register(SummarizeMemory, lambda _: SummarizeMemory(model))
    registry.register(PersistMemory, lambda _: PersistMemory())
    register_companion_steps(registry)
    register_session_steps(registry)
    register_job_steps(registry, model)
    register_canon_steps(registry, model)
    register_decision_steps(registry, model)
    return registry


def root_key_source(settings: Settings) -> RootKeySource:
    """Where the settings take the root key from. RootKeyUnsafe for a file inside the data folder."""
    environ = dict(settings.secrets)
    if settings.root_key_file:
        environ["GIEOK_ROOT_KEY_FILE"] = str(settings.root_key_file)
    # The home folder holds everything of a user: a database that lies there does not make it a data folder.
    folder = settings.data_folder
    own_folder = None if folder and Path.home().is_relative_to(folder) else folder
    return choose_root_key(environ, settings.own_key_file, own_folder)


def open_vault(settings: Settings) -> Vault:
    """The keystore that the settings name, opened with its root key. Blocks for a moment."""
    root = root_key_source(settings)
    keystore = open_keystore(settings.keystore_url)
    try:
        return Vault(keystore, root)
    except BaseException:
        keystore.close()
        raise


def offline_model() -> Model:
    """The model that needs no network and no key."""
    from gieok.adapters.models.offline import OfflineModel  # noqa: PLC0415  its rules load when first used

    return OfflineModel()
