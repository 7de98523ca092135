"""`gieok keys`: the root key, and the data keys of each owner."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from gieok.errors import NotFound, OwnerErased
from gieok.interfaces.cli.output import json_option, lang_option, print_facts, print_json, wire
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from gieok.app import Gieok
    from gieok.settings import Settings
    from gieok.vault import RootRotation, VaultStatus


@dataclass(frozen=True)
class UserRotation:
    """What `gieok keys rotate --user` or `--all-users` did."""

    users: int
    rows: int


@click.group()
def keys() -> None:
    """The keys that seal everything. No key is ever printed."""


@keys.command()
@json_option
@lang_option
def status(as_json: bool, say: Say) -> None:
    """Show where the keys lie and how many there are. None is made."""
    from gieok.settings import load_settings

    settings = load_settings()
    found = _status(settings)
    if as_json:
        print_json({"exists": True, **wire(found)} if found else {"exists": False})
    elif found is None:
        print(say("keys.missing"))
    else:
        print_facts(_facts(found, settings, say))


@keys.command()
@click.option("--root", is_flag=True, help="Wrap every key under a new root key.")
@click.option("--user", metavar="NAME", help="Seal everything of this user under a new data key.")
@click.option("--all-users", is_flag=True, help="The same for every user, one after the other.")
@json_option
@lang_option
def rotate(root: bool, user: str | None, all_users: bool, as_json: bool, say: Say) -> None:
    """Replace keys by new ones while the service runs. One that was cut off is simply run again."""
    import asyncio

    from gieok.settings import load_settings

    if (root, user is not None, all_users).count(True) != 1:
        raise click.UsageError("say what to rotate: one of --root, --user NAME and --all-users")
    settings = load_settings()
    if not have_keys(settings):
        raise NotFound("there are no keys to rotate yet; they are made when the first memory is stored")
    if root:
        _tell_root(_rotate_root(settings), settings, as_json, say)
        return
    done = asyncio.run(_rotate_users(settings, user, say))
    if as_json:
        print_json(wire(done))
    else:
        print(say("keys.users_rotated", users=done.users, rows=done.rows))


def have_keys(settings: Settings) -> bool:
    """Whether a keystore is in use already. None is made."""
    from gieok.adapters.sql.driver.open import find_keystore

    keystore = find_keystore(settings.keystore_url)
    if keystore is None:
        return False
    try:
        return keystore.head() is not None
    finally:
        keystore.close()


def _status(settings: Settings) -> VaultStatus | None:
    from gieok.app import open_vault

    if not have_keys(settings):
        return None
    vault = open_vault(settings)
    try:
        return vault.status()
    finally:
        vault.close()


def _facts(found: VaultStatus, settings: Settings, say: Say) -> list[tuple[str, str]]:
    return [
        (say("keys.root"), f"{found.root_id} ({root_place(settings, say)})"),
        (say("keys.keystore"), found.keystore),
        (say("keys.owners"), str(found.owners)),
        (say("keys.keys"), str(found.keys)),
        (say("keys.oldest"), f"{found.oldest_key:%Y-%m-%d %H:%M} UTC" if found.oldest_key else "-"),
        (say("keys.erased"), str(found.erased)),
        (say("keys.unfinished"), str(found.unfinished_erasures)),
    ]


def root_place(settings: Settings, say: Say) -> str:
    """Where the root key lies, in words."""
    if "GIEOK_ROOT_KEY" in settings.secrets:
        return say("keys.in_environment")
    if settings.root_key_file:
        return say("keys.mounted", path=settings.root_key_file)
    return say("keys.own_file", path=settings.own_key_file)


def _rotate_root(settings: Settings) -> RootRotation:
    from gieok.app import open_vault

    if not have_keys(settings):
        raise NotFound("there is no keystore, so there is no root key to rotate; `gieok doctor` says more")
    vault = open_vault(settings)
    try:
        return vault.rotate_root()
    finally:
        vault.close()


def _tell_root(done: RootRotation, settings: Settings, as_json: bool, say: Say) -> None:
    next_step = None if done.finished else _next_step(settings, say)
    if as_json:
        print_json({**wire(done), "nextStep": next_step})
        return
    print(say("keys.root_rotated", old=done.old_id, new=done.new_id, keys=done.keys))
    if next_step:
        print(next_step)
    kept = settings.root_key_file or "GIEOK_ROOT_KEY" in settings.secrets
    print(say("keys.old_backups" if kept else "keys.new_backup", old=done.old_id, path=settings.own_key_file))


def _next_step(settings: Settings, say: Say) -> str:
    if "GIEOK_ROOT_KEY" in settings.secrets:
        return say("keys.next_environment")
    file = settings.root_key_file
    return say("keys.next_mounted" if file else "keys.next_own", path=file or settings.own_key_file)


async def _rotate_users(settings: Settings, user: str | None, say: Say) -> UserRotation:
    from gieok.app import Gieok

    async with await Gieok.open(settings) as gieok:
        if user is not None:
            with _progress(1, say) as advance:
                return UserRotation(1, await gieok.user(user).rotate_key(partial(advance, 0)))
        with _progress(gieok.vault.status().owners, say) as advance:
            return await _rotate_all(gieok, partial(advance, 1))


async def _rotate_all(gieok: Gieok, report: Callable[[int], None]) -> UserRotation:
    done = rows = 0
    for user in gieok.vault.owners():
        with suppress(OwnerErased):  # meanwhile, so there is no key left to rotate
            rows += await gieok.user(user).rotate_key()
            done += 1
        report(rows)
    return UserRotation(done, rows)


@contextmanager
def _progress(users: int, say: Say) -> Generator[Callable[[int, int], None]]:
    """A bar of users done and rows sealed anew, where someone watches; what moves it."""
    with click.progressbar(
        range(users),
        label=say("keys.rotating"),
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
        show_pos=True,
        item_show_func=lambda rows: say("keys.rows", rows=rows or 0),
        update_min_steps=0,
    ) as bar:
        yield bar.update
