"""`gieok usage`: how much of a language model a user's memory used, day by day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.asking import ask, owner_option
from gieok.interfaces.cli.output import documents, json_option, lang_option, print_json, print_table
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from gieok.memory.usage.records import UsageDay


@click.command()
@click.option("--days", metavar="N", type=int, default=30, help="The last N days with today; 30 unless told.")
@owner_option("Whose usage.")
@json_option
@lang_option
def usage(days: int, owner: str, as_json: bool, say: Say) -> None:
    """Calls and tokens of language models, the newest day first (UTC).

    What a plan's budget, tokensPerDay, is held against. A day without use is left out.
    """
    found = ask(owner, lambda user: user.usage(days))
    if as_json:
        print_json({"days": documents(found)})
    elif not found:
        print(say("usage.none"))
    else:
        names = ("usage.day", "usage.calls", "usage.input", "usage.output", "usage.tokens")
        print_table([say(name) for name in names], [_row(each) for each in found])


def _row(day: UsageDay) -> list[str]:
    counts = (day.calls, day.input_tokens, day.output_tokens, day.tokens)
    return [str(day.day), *(f"{count:,}" for count in counts)]
