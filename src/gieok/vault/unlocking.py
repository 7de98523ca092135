"""Finding the root key that fits a keystore."""

from __future__ import annotations

from gieok.errors import RootKeyMissing
from gieok.vault.keystore import Head, KeyStore, check_root
from gieok.vault.root_key import RootKey, RootKeySource
from gieok.vault.wrapping import new_key, unwrap


def unlock(keystore: KeyStore, source: RootKeySource, now: int) -> tuple[RootKey, bytes]:
    """The root key of `keystore`, and the key of its tombstone tags.

    A new keystore is claimed for the key of `source`. A root key is made only for a keystore that never held
    anything.
    """
    head = keystore.head()
    if head is None:
        first = source.load() or source.create()
        head = keystore.claim(Head(first.id, new_key(first, "", "tags", 1, now)))
    root, head = fitting_root(keystore, source, head)
    return root, unwrap(root, head.tag_key)


def fitting_root(keystore: KeyStore, source: RootKeySource, head: Head) -> tuple[RootKey, Head]:
    """The key of `source` that wraps the keystore, with the head that it wraps.

    That is its key, or the successor of a rotation that was cut off after the keystore had gone over to it.
    Such a rotation is finished here. `head` may be outdated by now, if another process has rotated since it
    was read: only where the keystore still says the same does no key fit.
    """
    while True:
        # The successor is read first: if another process puts it in the place of the key right now, the key
        # that is read next is that one. The other way round, neither would fit.
        successor, current = source.load_next(), source.load()
        if current is not None and current.id == head.root_id:
            return current, head
        if successor is not None and successor.id == head.root_id:
            source.promote(successor)
            return successor, head
        latest = keystore.head()
        if latest is not None and latest.root_id != head.root_id:
            head = latest
            continue
        if current is None:
            raise RootKeyMissing(
                f"the keystore {keystore.location} is wrapped by root key {head.root_id}, and {source.name} "
                "has none; put that key back: without it nothing that was sealed can be read, and a new one "
                "would not help"
            )
        check_root(keystore.location, expected=current.id, actual=head.root_id)
