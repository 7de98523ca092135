"""`gieok context`: what the next turn with a persona would load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gieok.interfaces.cli.memory.read import why_text
from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import one_line, print_json, print_table, printable_lines
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from gieok.app.context import PromptContext

_PARTS = ("context.part", "context.tokens", "context.count", "context.left_out")
_RECALLED = ("memory.kind", "memory.when", "memory.text", "memory.why")


@click.command()
@click.argument("message", required=False)
@click.option("--persona", metavar="ID", required=True, help="The persona that would answer.")
@click.option("--session", metavar="ID", help="Its window is loaded. Default: the open session, if any.")
@click.option("--budget", metavar="N", type=int, help="At most N tokens. Default: that of the plan.")
@click.option("--prompt", "show_prompt", is_flag=True, help="Print the whole prompt too.")
@user_option("User who would send the message.")
@json_option
@lang_option
def context(
    message: str | None,
    persona: str,
    session: str | None,
    budget: int | None,
    show_prompt: bool,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Show what the next turn would load.

    Lists the parts of the prompt with their tokens, and what is recalled for MESSAGE and why. Nothing is
    stored, and no language model is called.
    """
    made = run_for_user(
        owner, lambda user: user.context(persona, message, session_ref=session, budget=budget)
    )
    if as_json:
        print_json(_json(made, t))
        return
    if show_prompt:
        print(f"{printable_lines(made.prompt.system)}\n")
        for each in made.prompt.messages:
            print(f"{each.role}: {printable_lines(each.content)}")
        print()
    rows = [[part.kind, f"{part.tokens:,}", str(part.count), str(part.left_out)] for part in made.parts]
    print_table([t(heading) for heading in _PARTS], rows)
    print(t("context.total", tokens=f"{made.tokens:,}", budget=f"{made.budget:,}"))
    if made.recalled:
        print()
        print_table(
            [t(heading) for heading in _RECALLED],
            [
                [hit.kind, f"{hit.timestamp:%Y-%m-%d}", one_line(hit.text), why_text(hit, t)]
                for hit in made.recalled
            ],
        )


def _json(made: PromptContext, t: Translator) -> dict[str, Any]:
    from gieok.interfaces.rest.schema.chat import context_answer

    answer = context_answer(made).model_dump(mode="json", by_alias=True, context={"language": t.lang})
    return {name: value for name, value in answer.items() if name != "success"}
