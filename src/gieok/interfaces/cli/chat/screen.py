"""What the user sees: replies on the standard output, and all else where it does not get into their way."""

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

from gieok.interfaces.cli.harmless import printable, printable_lines
from gieok.interfaces.cli.output import can_show
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from gieok.app import ChatTurn
    from gieok.errors import GieokError
    from gieok.memory.companion.records import Notice


class Screen:
    """A terminal with someone before it, or a pipe: then only replies are on the standard output."""

    def __init__(self, say: Say, *, as_json: bool) -> None:
        self.say = say
        self._as_json = as_json
        self._color = False if os.environ.get("NO_COLOR") else None
        self.someone_is_there = not as_json and sys.stdin.isatty() and sys.stdout.isatty()

    def lines(self) -> Iterator[str]:
        """What the user says, until there is no more. Blank lines are passed over."""
        if self.someone_is_there:
            with suppress(ModuleNotFoundError):  # not everywhere: it gives `input` its editing and history
                import_module("readline")
        elif isinstance(stdin := cast(TextIO, sys.stdin), TextIOWrapper):
            # Bytes that are no text become what a message may not hold, and are refused as such.
            stdin.reconfigure(errors="surrogateescape")
        while (line := self._line()) is not None:
            if line.strip():
                yield line

    def _line(self) -> str | None:
        if not self.someone_is_there:
            line = sys.stdin.readline()
            return line.removesuffix("\n") if line else None
        you = self.say("chat.you")
        try:
            return input(f"{you}> ")
        except EOFError:
            print()
            return None

    def begin_reply(self, name: str) -> None:
        if self.someone_is_there:
            click.echo(click.style(f"{printable(name)}> ", bold=True), nl=False, color=self._color)

    def piece(self, text: str) -> None:
        """Part of a reply, as it comes."""
        if not self._as_json:
            print(printable_lines(text), end="", flush=True)

    def end_reply(self, turn: ChatTurn) -> None:
        """The rest of a turn: its line end, or the whole of it as one line of JSON."""
        if self._as_json:
            from gieok.interfaces.rest.schema.chat import chat_answer

            answer = chat_answer(turn, korean=self.say.lang == "ko").model_dump(mode="json", by_alias=True)
            print(json.dumps(answer, ensure_ascii=not can_show("한글")), flush=True)
        else:
            print(flush=True)
        self.notices(turn.notices)

    def notices(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            self.note(notice.korean if self.say.lang == "ko" else notice.english)

    def show(self, text: str) -> None:
        """What the user asked to see. Among lines of JSON it has no place."""
        click.echo(printable_lines(text), err=self._as_json)

    def note(self, text: str) -> None:
        """Something that nobody in the conversation said."""
        styled = click.style(printable_lines(text), dim=True)
        click.echo(styled, err=not self.someone_is_there, color=self._color)

    def error(self, error: GieokError) -> None:
        """What went wrong, in the manner of the program, where the conversation goes on."""
        click.echo(f"error: {error} [{error.code}]", err=True)
