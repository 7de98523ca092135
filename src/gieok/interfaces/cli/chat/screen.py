"""Input and output of a conversation, in a terminal or through pipes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO, cast

import click

from gieok.interfaces.cli.output import can_show, printable, printable_lines
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app import ChatTurn
    from gieok.errors import GieokError
    from gieok.memory.companion.records import Notice


class Screen:
    """A terminal, or a pipe. With a pipe or `--json`, only replies are written to standard output."""

    def __init__(self, t: Translator, *, as_json: bool) -> None:
        self.t = t
        self._as_json = as_json
        self._color = False if os.environ.get("NO_COLOR") else None
        self.is_interactive = not as_json and sys.stdin.isatty() and sys.stdout.isatty()

    def lines(self) -> Iterator[str]:
        """Lines of input until it ends, without blank ones."""
        if self.is_interactive:
            with suppress(ModuleNotFoundError):  # adds editing and history to input(); not on every platform
                import_module("readline")
        elif isinstance(stdin := cast(TextIO, sys.stdin), TextIOWrapper):
            # Invalid bytes become surrogates, which the message check refuses with a clear error.
            stdin.reconfigure(errors="surrogateescape")
        while (line := self._line()) is not None:
            if line.strip():
                yield line

    def _line(self) -> str | None:
        if not self.is_interactive:
            line = sys.stdin.readline()
            return line.removesuffix("\n") if line else None
        you = self.t("chat.you")
        try:
            return input(f"{you}> ")
        except EOFError:
            print()
            return None

    def begin_reply(self, name: str) -> None:
        if self.is_interactive:
            click.echo(click.style(f"{printable(name)}> ", bold=True), nl=False, color=self._color)

    def token(self, text: str) -> None:
        """Print a token of the reply as it arrives."""
        if not self._as_json:
            print(printable_lines(text), end="", flush=True)

    def end_reply(self, turn: ChatTurn) -> None:
        """End the reply with a line end, or print the whole turn as one line of JSON."""
        if self._as_json:
            from gieok.interfaces.rest.schema.chat import chat_answer

            language = self.t.lang
            answer = chat_answer(turn, language).model_dump(
                mode="json", by_alias=True, context={"language": language}
            )
            print(json.dumps(answer, ensure_ascii=not can_show("한글")), flush=True)
        else:
            print(flush=True)
        if turn.degraded:
            self.note(self.t("memory.degraded", parts=", ".join(turn.degraded)))
        self.notices(turn.notices)

    def notices(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            self.note(notice.korean if self.t.lang == "ko" else notice.english)

    def show(self, text: str) -> None:
        """Print the output of a command; with `--json` to standard error."""
        click.echo(printable_lines(text), err=self._as_json)

    def note(self, text: str) -> None:
        """Print a message of the program; to standard error unless this is a terminal."""
        styled = click.style(printable_lines(text), dim=True)
        click.echo(styled, err=not self.is_interactive, color=self._color)

    def error(self, error: GieokError) -> None:
        click.echo(f"error: {error} [{error.code}]", err=True)
