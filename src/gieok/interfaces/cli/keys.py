"""`gieok keys`: the root key, and the data keys of each owner."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from gieok.errors import NotFound, OwnerErased
from gieok.interfaces.cli.options import json_option, lang_option
from gieok.interfaces.cli.output import dataclass_json, print_fields, print_json
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from gieok.settings import Settings
    from gieok.vault import RootRotation, VaultStatus


@dataclass(frozen=True)
class UserRotation:
    """Result of `gieok keys rotate --user` or `--all-users`."""

    users: int
    rows: int


@click.group()
def keys() -> None:
    """Encryption keys: status and rotation. Keys are never printed."""


@keys.command()
@json_option
@lang_option
def status(as_json: bool, t: Translator) -> None:
    """Show where the keys are stored and how many exist. Creates none."""
    from gieok.settings import load_settings

    settings = load_settings()
    found = _status(settings)
    if as_json:
        print_json({"exists": True, **dataclass_json(found)} if found else {"exists": False})
    elif found is None:
        print(t("keys.missing"))
    else:
        print_fields(
            [
                (t("keys.root"), f"{found.root_id} ({root_key_place(settings, t)})"),
                (t("keys.keystore"), found.keystore),
                (t("keys.owners"), str(found.owners)),
                (t("keys.keys"), str(found.keys)),
                (t("keys.oldest"), f"{found.oldest_key:%Y-%m-%d %H:%M} UTC" if found.oldest_key else "-"),
                (t("keys.erased"), str(found.erased)),
                (t("keys.unfinished"), str(found.unfinished_erasures)),
            ]
        )


@keys.command()
@click.option("--root", is_flag=True, help="Create a new root key and rewrap all data keys with it.")
@click.option("--user", metavar="NAME", help="Reseal all data of this user with a new data key.")
@click.option("--all-users", is_flag=True, help="Reseal the data of every user, one after the other.")
@json_option
@lang_option
def rotate(root: bool, user: str | None, all_users: bool, as_json: bool, t: Translator) -> None:
    """Rotate keys while the service runs. Run it again if it was interrupted."""
    import asyncio

    from gieok.settings import load_settings

    if (root, user is not None, all_users).count(True) != 1:
        raise click.UsageError("choose what to rotate: one of --root, --user NAME and --all-users")
    settings = load_settings()
    if not keys_exist(settings):
        raise NotFound("there are no keys to rotate yet; they are created when the first data is stored")
    if root:
        _print_root_rotation(_rotate_root(settings), settings, as_json, t)
        return
    done = asyncio.run(_rotate_users(settings, user, t))
    if as_json:
        print_json(dataclass_json(done))
    else:
        print(t("keys.users_rotated", users=done.users, rows=done.rows))


def keys_exist(settings: Settings) -> bool:
    """Whether the keystore has a key. Does not create a keystore."""
    from gieok.adapters.sql.driver.open import find_keystore

    keystore = find_keystore(settings.keystore_url)
    if keystore is None:
        return False
    try:
        return keystore.head() is not None
    finally:
        keystore.close()


def root_key_place(settings: Settings, t: Translator) -> str:
    """Where the root key is stored."""
    if "GIEOK_ROOT_KEY" in settings.secrets:
        return t("keys.in_environment")
    if settings.root_key_file:
        return t("keys.mounted", path=settings.root_key_file)
    return t("keys.own_file", path=settings.own_key_file)


def _status(settings: Settings) -> VaultStatus | None:
    from gieok.app import open_vault

    if not keys_exist(settings):
        return None
    vault = open_vault(settings)
    try:
        return vault.status()
    finally:
        vault.close()


def _rotate_root(settings: Settings) -> RootRotation:
    from gieok.app import open_vault

    vault = open_vault(settings)
    try:
        return vault.rotate_root()
    finally:
        vault.close()


def _print_root_rotation(done: RootRotation, settings: Settings, as_json: bool, t: Translator) -> None:
    next_step = None if done.finished else _next_step(settings, t)
    if as_json:
        print_json({**dataclass_json(done), "nextStep": next_step})
        return
    print(t("keys.root_rotated", old=done.old_id, new=done.new_id, keys=done.keys))
    if next_step:
        print(next_step)
    by_operator = settings.root_key_file or "GIEOK_ROOT_KEY" in settings.secrets
    advice = "keys.old_backups" if by_operator else "keys.new_backup"
    print(t(advice, old=done.old_id, path=settings.own_key_file))


def _next_step(settings: Settings, t: Translator) -> str:
    """What the operator must do to put the new root key in its place."""
    if "GIEOK_ROOT_KEY" in settings.secrets:
        return t("keys.next_environment")
    file = settings.root_key_file
    return t("keys.next_mounted" if file else "keys.next_own", path=file or settings.own_key_file)


async def _rotate_users(settings: Settings, user: str | None, t: Translator) -> UserRotation:
    """Rotate the data key of one user, or of all users."""
    from gieok.app import Gieok

    async with await Gieok.open(settings, background=False) as gieok:
        if user is not None:
            with _progress(1, t) as advance:
                return UserRotation(1, await gieok.user(user).rotate_key(partial(advance, 0)))
        users = rows = 0
        with _progress(gieok.vault.status().owners, t) as advance:
            for owner in gieok.vault.owners():
                with suppress(OwnerErased):  # erased since the list was read: no key is left to rotate
                    rows += await gieok.user(owner).rotate_key()
                    users += 1
                advance(1, rows)
        return UserRotation(users, rows)


@contextmanager
def _progress(users: int, t: Translator) -> Generator[Callable[[int, int], None]]:
    """Progress bar of users and resealed rows. Yields `advance(users, rows)`."""
    with click.progressbar(
        range(users),
        label=t("keys.rotating"),
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
        show_pos=True,
        item_show_func=lambda rows: t("keys.rows", rows=rows or 0),
        update_min_steps=0,
    ) as bar:
        yield bar.update
