"""Options that commands share, and opening Gieok for the user that `--user` names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gieok.interfaces.cli.output import can_show, message_locale
from gieok.interfaces.cli.texts import Lang, Translator

if TYPE_CHECKING:
    from gieok.app import Gieok, User

C = TypeVar("C", bound=Callable[..., Any])
T = TypeVar("T")

USER = "GIEOK_USER"


def json_option(command: C) -> C:
    """`--json`, passed to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def lang_option(command: C) -> C:
    """`--lang`, passed to the command as `t`, which looks up texts in that language."""
    return click.option(
        "--lang",
        "t",
        type=click.Choice(["en", "ko"]),
        callback=_translator,
        help="Print in English or Korean. Default: from LC_ALL, LC_MESSAGES or LANG.",
    )(command)


def _translator(_context: click.Context, _option: click.Parameter, lang: Lang | None) -> Translator:
    """Korean only if the output encoding has Hangul."""
    wanted = lang or ("ko" if message_locale().startswith("ko") else "en")
    return Translator("ko" if wanted == "ko" and can_show("한글") else "en")


def user_option(help_text: str) -> Callable[[C], C]:
    """`--user`, passed to the command as `owner`. `help_text` is the first sentence of its help."""
    return click.option(
        "--user",
        "owner",
        metavar="NAME",
        envvar=USER,
        callback=_owner,
        help=f"{help_text} Default: {USER}, or the name of the system user.",
    )


def _owner(_context: click.Context, _option: click.Parameter, given: str | None) -> str:
    import getpass

    if given:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise click.UsageError(f"the system user has no name; use --user NAME or {USER}") from None


def run_with_gieok(work: Callable[[Gieok], Awaitable[T]], *, needs_model: bool = True) -> T:
    """Open Gieok with the settings of the environment, run `work`, and close it.

    Without `needs_model` the language model of the settings is not loaded, which takes seconds and a key.
    """
    import asyncio

    from gieok.app import Gieok

    async def run() -> T:
        model = None
        if not needs_model:
            from gieok.adapters.models.offline import OfflineModel

            model = OfflineModel()
        async with await Gieok.open(model=model, background=False) as gieok:
            return await work(gieok)

    return asyncio.run(run())


def run_for_user(owner: str, work: Callable[[User], Awaitable[T]]) -> T:
    """Open Gieok and run `work` with the data of one user."""
    return run_with_gieok(lambda gieok: work(gieok.user(owner)))
