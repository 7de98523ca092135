"""Keys under a root key, each bound to its owner, purpose, generation and id."""

from __future__ import annotations

import os
from dataclasses import replace

from cryptography.exceptions import InvalidTag

from gieok.errors import StoreDamaged
from gieok.vault.framing import framed
from gieok.vault.keystore import Purpose, WrappedKey
from gieok.vault.root_key import RootKey
from gieok.vault.sealing import KEY_BYTES, KEY_ID_BYTES

_DOMAIN = "gieok wrapped key 1"


def new_key(root: RootKey, owner: str, purpose: Purpose, generation: int, created_at: int) -> WrappedKey:
    """A random key, wrapped."""
    blank = WrappedKey(owner, purpose, generation, os.urandom(KEY_ID_BYTES), b"", created_at)
    return replace(blank, wrapped=root.wrap(os.urandom(KEY_BYTES), _bound_to(blank)))


def unwrap(root: RootKey, key: WrappedKey) -> bytes:
    """The key in clear. The caller has made sure that `root` is the one that wraps the keystore."""
    try:
        return root.unwrap(key.wrapped, _bound_to(key))
    except InvalidTag:
        raise StoreDamaged(
            f"key {key.key_id.hex()} in the keystore is not what was written; "
            "restore the keystore from a backup"
        ) from None


def rewrap(old: RootKey, new: RootKey, key: WrappedKey) -> WrappedKey:
    """The same key under another root key."""
    return replace(key, wrapped=new.wrap(unwrap(old, key), _bound_to(key)))


def _bound_to(key: WrappedKey) -> bytes:
    return framed(_DOMAIN, key.owner, key.purpose, str(key.generation), key.key_id.hex())
