"""Keys, sealing, the blind index and erasure. Knows no database and no memory model, and caches only keys."""

from gieok.vault.keys import OwnerKeys
from gieok.vault.keystore import Head, KeyCounts, KeyStore, WrappedKey
from gieok.vault.root_key import (
    EnvRootKey,
    FileRootKey,
    MountedRootKey,
    RootKey,
    RootKeySource,
    choose_root_key,
)
from gieok.vault.sealing import Place
from gieok.vault.vault import RootRotation, Vault, VaultStatus

__all__ = [
    "EnvRootKey",
    "FileRootKey",
    "Head",
    "KeyCounts",
    "KeyStore",
    "MountedRootKey",
    "OwnerKeys",
    "Place",
    "RootKey",
    "RootKeySource",
    "RootRotation",
    "Vault",
    "VaultStatus",
    "WrappedKey",
    "choose_root_key",
]
