"""The keys: a safe root key, and a keystore that it fits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

from gieok.adapters.sql.driver.open import find_database, find_keystore
from gieok.app import root_key_source
from gieok.app.assembly import check_keystore
from gieok.app.opening import remembered_keystore
from gieok.errors import GieokError, RootKeyMissing
from gieok.interfaces.cli.doctor.finding import Finding, guarded
from gieok.interfaces.cli.keys import have_keys, root_place
from gieok.interfaces.cli.output import shown_url
from gieok.interfaces.cli.wording import Say
from gieok.settings import Settings
from gieok.vault import KeyStore, RootKeySource
from gieok.vault.keystore import check_root
from gieok.vault.root_key import ENV_KEY


def keys(settings: Settings, say: Say) -> Iterator[Finding]:
    """The root key, and then, if it is sound, the keystore that it must fit."""
    of_root = list(guarded("root_key", partial(_root_key, settings, say)))
    yield from of_root
    if all(finding.level != "failed" for finding in of_root):
        yield from guarded("keystore", partial(_keystore, settings, say))


def _root_key(settings: Settings, say: Say) -> Iterator[Finding]:
    """Reading the key checks its form, and who else can read it. A lost one is for the keystore to tell."""
    source = root_key_source(settings)
    key = source.load()
    if key is not None:
        known = "doctor.root_given" if source.name == ENV_KEY else "doctor.root_safe"
        yield Finding("root_key", "ok", say(known, id=key.id, place=root_place(settings, say)))
    elif not have_keys(settings):
        yield _no_root_key(settings, say)


def _no_root_key(settings: Settings, say: Say) -> Finding:
    if settings.root_key_file:
        text = say("doctor.root_not_mounted", path=settings.root_key_file)
        return Finding("root_key", "failed", text, say("doctor.root_not_mounted_remedy"))
    return Finding("root_key", "ok", say("doctor.root_not_made", path=settings.own_key_file))


def _keystore(settings: Settings, say: Say) -> Iterator[Finding]:
    found = find_keystore(settings.keystore_url)
    remembered = _remembered(settings)
    if found is None:
        yield _no_keystore(settings, remembered, say)
        return
    try:
        if remembered is not None:
            check_keystore(found, remembered)
        yield from _fit(found, root_key_source(settings), say)
        yield _erasures(found.counts().erasing, say)
    finally:
        found.close()


def _remembered(settings: Settings) -> str | None:
    """The keystore that the database was sealed with. What is wrong with a database, its own check says."""
    try:
        found = find_database(settings.database_url)
        if found is None or found.pending:
            return None
        return asyncio.run(remembered_keystore(settings.database_url))
    except GieokError:
        return None


def _no_keystore(settings: Settings, remembered: str | None, say: Say) -> Finding:
    url = shown_url(settings.keystore_url)
    if find_database(settings.database_url) is None:
        return Finding("keystore", "ok", say("doctor.keystore_missing", url=url))
    text = say("doctor.keystore_gone", url=url)
    level = "warning" if remembered is None else "failed"
    return Finding("keystore", level, text, say("doctor.keystore_gone_remedy"))


def _fit(found: KeyStore, source: RootKeySource, say: Say) -> Iterator[Finding]:
    """Which of the root key and its successor wraps the keystore. A rotation is looked at, not finished."""
    head = found.head()
    if head is None:
        yield Finding("keystore", "ok", say("doctor.keystore_unused", place=found.location))
        return
    key, successor = source.load(), source.load_next()
    if successor is not None and successor.id == head.root_id and (key is None or key.id != head.root_id):
        text = say("doctor.rotation_cut_off", new=successor.id)
        yield Finding("keystore", "warning", text, say("doctor.rotation_cut_off_remedy"))
        return
    if key is None:
        raise RootKeyMissing(
            f"the keystore {found.location} is wrapped by root key {head.root_id}, and {source.name} has "
            "none; put that key back: without it nothing that was sealed can be read"
        )
    check_root(found.location, expected=key.id, actual=head.root_id)
    counts = found.counts()
    text = say("doctor.keystore_fits", place=found.location, owners=counts.owners, keys=counts.keys)
    yield Finding("keystore", "ok", text)
    if successor is not None and successor.id != key.id:
        text = say("doctor.rotation_waits", new=successor.id)
        yield Finding("rotation", "warning", text, say("doctor.rotation_waits_remedy"))


def _erasures(unfinished: int, say: Say) -> Finding:
    if unfinished:
        text = say("doctor.erasures_unfinished", many=unfinished)
        return Finding("erasures", "warning", text, say("doctor.erasures_remedy"))
    return Finding("erasures", "ok", say("doctor.erasures_finished"))
