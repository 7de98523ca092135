"""The story, act by act: each is played on the real thing and then shown, before the next begins.

Between the acts nothing is open, as between two runs of a program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator

import click

from gieok.app.chat import CHAT_PLAN
from gieok.interfaces.cli.columns import pad, width
from gieok.interfaces.cli.demo.deciding import decide
from gieok.interfaces.cli.demo.disk import count_rows, scan, stored_memory
from gieok.interfaces.cli.demo.place import Place
from gieok.interfaces.cli.demo.plug import PulledPlug, kill_in_a_turn, look_again
from gieok.interfaces.cli.demo.show.lines import INDENT, note
from gieok.interfaces.cli.demo.show.proof import show_disk, show_plan, show_plug, show_radius
from gieok.interfaces.cli.demo.show.talk import show_canon, show_recall, show_talks
from gieok.interfaces.cli.demo.story import Story
from gieok.interfaces.cli.demo.talking import change_canon, come_back, meet, play_talk
from gieok.interfaces.cli.output import program
from gieok.interfaces.cli.wording import Say
from gieok.plans import load_plan

_DOCS = {"en": "README.md, docs/", "ko": "README.ko.md, docs/"}


def tell(story: Story, place: Place, say: Say) -> Iterator[str]:
    """Every line of the demo, as soon as there is something to tell."""
    yield click.style(f"── {say('title')} " + "─" * 24, bold=True)
    yield from note(say("lead"))
    asyncio.run(meet(story, place))
    talks = [asyncio.run(play_talk(story, place, lines)) for lines in story.talks]
    yield from _act(1, say("talk"), show_talks(story, talks, say))

    row = stored_memory(place.database, talks[-1].memory.id)
    found = scan(place.folder, (*story.secrets, story.owner))
    yield from _act(2, say("disk"), show_disk(row, found, say))

    back = asyncio.run(come_back(story, place))
    yield from _act(3, say("recall"), show_recall(story, back, say))

    change = asyncio.run(change_canon(story, place, back.turn.session_ref))
    yield from _act(4, say("canon"), show_canon(story, change, say))

    yield from _act(5, say("decide"), show_radius(asyncio.run(decide(story, place)), say))

    yield from _act(6, say("plug"), show_plug(story, _pull(story, place, back.turn.session_ref), say))

    yield from _act(7, say("plan"), show_plan(load_plan(CHAT_PLAN), back.turn.record, say))
    yield from _act(None, say("next"), _next_steps(say))


def _pull(story: Story, place: Place, session_ref: str) -> PulledPlug:
    before = count_rows(place.database)
    death = kill_in_a_turn(story, place)
    after, again = asyncio.run(look_again(story, place, session_ref))
    return PulledPlug(story.lost.said[0], death, before, after, again)


def _act(number: int | None, heading: str, lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield click.style(f"{number}  {heading}" if number else heading, fg="cyan", bold=True)
    yield from lines


def _next_steps(say: Say) -> Iterator[str]:
    steps = {
        f"{program()} chat": say("next.chat"),
        f"{program()} serve": say("next.serve"),
        _DOCS[say.lang]: say("next.docs"),
    }
    wide = max(map(width, steps))
    for command, what in steps.items():
        yield f"{INDENT}{pad(command, wide)}  {what}"
