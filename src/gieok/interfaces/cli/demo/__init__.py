"""`gieok demo`: shows Gieok in seven acts, on a real database, without a network or an API key."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from gieok.interfaces.cli.output import can_show, message_locale, program_name
from gieok.interfaces.cli.texts import Lang, Translator

_NOT_ASCII = "한글→…─·×✗├└│↑"
_TO_ASCII = str.maketrans(
    {"→": "->", "…": "...", "─": "-", "·": "|", "×": "x", "✗": "x", "├": "|", "└": "`", "│": "|", "↑": "^"}
)
_DOCS = {"en": "README.md, docs/", "ko": "README.ko.md, docs/"}


@click.command()
@click.option(
    "--lang",
    type=click.Choice(["ko", "en"]),
    help="Run it in Korean or English. Default: from LC_ALL, LC_MESSAGES or LANG; Korean if none is set.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the database, the keystore and the key in DIR, which must be new or empty.",
)
@click.option("--console", is_flag=True, help="Then open the data in the web console, until Ctrl-C.")
@click.option("--no-color", is_flag=True, help="Print without colours, as with NO_COLOR set.")
def demo(lang: Lang | None, keep: Path | None, console: bool, no_color: bool) -> None:
    """Show what Gieok does, in seven short acts.

    Memory, encryption, recall, facts, decisions, a killed process and the plan. The demo runs in a temporary
    folder, which is removed at the end, and does not touch your data.
    """
    encoding = sys.stdout.encoding
    unicode = can_show(_NOT_ASCII)
    color = False if no_color or os.environ.get("NO_COLOR") else None

    def write(line: str) -> None:
        text = line if unicode else line.translate(_TO_ASCII)
        click.echo(text.encode(encoding, "replace").decode(encoding), color=color)

    locale = message_locale()
    names_no_language = locale.partition(".")[0] in ("", "c", "posix")
    wanted = lang or ("ko" if names_no_language or locale.startswith("ko") else "en")
    if wanted == "ko" and not unicode:
        write(f"The encoding of this terminal ({encoding}) has no Korean, so the demo runs in English.")
        write(f"For Korean: PYTHONIOENCODING=utf-8 {program_name()} demo --lang ko")
        wanted = "en"
    elif lang is None and names_no_language:
        write(f"In English: {program_name()} demo --lang en")
    t = Translator(wanted)
    with _folder(keep) as folder:
        for line in _acts(folder, t):
            write(line)
        if keep is not None:
            write(t("demo.kept_in", folder=folder))
        if console:
            _open_console(folder, t)


def _open_console(path: Path, t: Translator) -> None:
    """Serve the data of the demo in the web console until Ctrl-C."""
    from dataclasses import replace

    from gieok.interfaces.cli.demo import acts
    from gieok.interfaces.cli.demo.story import STORIES
    from gieok.interfaces.cli.serve import open_console

    settings = acts.DemoFolder(path).settings
    service = replace(settings.service, host="127.0.0.1", port=0)
    open_console(replace(settings, service=service), STORIES[t.lang].owner, t)


def _acts(path: Path, t: Translator) -> Iterator[str]:
    """Run the acts one after the other and yield the lines of each when it has run.

    Gieok is closed between two acts, as between two runs of a program.
    """
    import asyncio

    from gieok.app.chat import CHAT_PLAN
    from gieok.interfaces.cli.demo import acts, display, kill
    from gieok.interfaces.cli.demo.story import STORIES
    from gieok.plans import load_plan

    story = STORIES[t.lang]
    folder = acts.DemoFolder(path)
    yield from display.show_title(t)

    asyncio.run(acts.create_persona(story, folder))
    talks = [asyncio.run(acts.run_session(story, folder, messages)) for messages in story.talks]
    yield from display.heading(1, t("demo.talk"))
    yield from display.show_talks(story, talks, t)

    row = acts.read_memory_row(folder.database, talks[-1].memory.id)
    matches = acts.search_files(folder.path, (*story.secrets, story.owner))
    yield from display.heading(2, t("demo.disk"))
    yield from display.show_disk(row, matches, t)

    recall = asyncio.run(acts.start_new_session(story, folder))
    yield from display.heading(3, t("demo.recall"))
    yield from display.show_recall(story, recall, t)

    change = asyncio.run(acts.change_fact(story, folder, recall.turn.session_ref))
    yield from display.heading(4, t("demo.canon"))
    yield from display.show_canon(story, change, t)

    impact = asyncio.run(acts.save_decisions(story, folder))
    yield from display.heading(5, t("demo.decide"))
    yield from display.show_impact(impact, t)

    killed = kill.run_killed_turn(story, folder, recall.turn.session_ref)
    yield from display.heading(6, t("demo.kill"))
    yield from display.show_killed_turn(story, killed, t)

    yield from display.heading(7, t("demo.plan"))
    yield from display.show_plan(load_plan(CHAT_PLAN), recall.turn.record, t)

    yield from display.heading(None, t("demo.next"))
    yield from display.columns(_next_steps(t))


def _next_steps(t: Translator) -> dict[str, str]:
    """What to run or read after the demo, each with what it is for."""
    return {
        f"{program_name()} chat": t("demo.next.chat"),
        f"{program_name()} serve": t("demo.next.serve"),
        _DOCS[t.lang]: t("demo.next.docs"),
    }


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    """A temporary folder, or the one to keep. Raises BadParameter if that is not empty or not writable."""
    if keep is None:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="gieok-demo-") as temporary:
            yield Path(temporary)
        return
    try:
        keep.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_empty = not any(keep.iterdir())
    except OSError as error:
        raise click.BadParameter(
            f"{keep} cannot be used ({error.strerror}); choose a folder that you can write to",
            param_hint="--keep",
        ) from error
    if not is_empty:
        raise click.BadParameter(f"{keep} is not empty; choose a new folder", param_hint="--keep")
    yield keep.absolute()
