"""`gieok persona` and `gieok fact`: personas, and the facts between a user and a persona."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import (
    dataclass_json,
    model_json,
    one_line,
    print_json,
    print_table,
    printable_lines,
)
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from gieok.app import User
    from gieok.memory.canon.records import Fact, FactVersion, PersonaCard

owner_option = user_option("User whose personas are used.")
persona_option = click.option("--persona", metavar="ID", required=True, help="Persona of the fact.")
MAX_PAGE = 1_000
CATEGORIES = (
    "RELATIONSHIP",
    "GOAL",
    "EVENT",
    "HABIT",
    "OPINION",
    "PERSONAL_INFO",
    "PREFERENCE",
    "OTHER",
)
"""The same values as in the records, which are too slow to import for `--help`. A test compares them."""


@click.group()
def persona() -> None:
    """Personas of a user: list, show, delete."""


@persona.command("list")
@owner_option
@json_option
@lang_option
def list_personas(owner: str, as_json: bool, t: Translator) -> None:
    """List personas, oldest first."""

    async def read(user: User) -> list[PersonaCard]:
        personas: list[PersonaCard] = []
        while page := await user.personas.list(after=personas[-1].id if personas else None, limit=MAX_PAGE):
            personas += page
        return personas

    personas = run_for_user(owner, read)
    if as_json:
        print_json({"personas": [model_json(each) for each in personas]})
    elif not personas:
        print(t("persona.none"))
    else:
        print_table(
            [t("persona.id"), t("persona.name"), t("persona.version")],
            [[each.id, one_line(each.name), str(each.version)] for each in personas],
        )


@persona.command("show")
@click.argument("name", metavar="PERSONA")
@owner_option
@json_option
@lang_option
def show_persona(name: str, owner: str, as_json: bool, t: Translator) -> None:
    """Show the persona with this id."""
    card = run_for_user(owner, lambda user: user.personas.get(name))
    if as_json:
        print_json({"persona": model_json(card)})
        return
    print(f"{one_line(card.name)} ({card.id}, v{card.version})")
    for text in (card.system_prompt, card.card):
        if text:
            print(f"\n{printable_lines(text)}")


@persona.command("delete")
@click.argument("name", metavar="PERSONA")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@owner_option
@json_option
@lang_option
def delete_persona(name: str, yes: bool, owner: str, as_json: bool, t: Translator) -> None:
    """Delete PERSONA permanently, with its facts, memories, sessions and messages."""
    if not yes:
        click.confirm(t("memory.confirm_delete"), abort=True, err=True)
    deleted = run_for_user(owner, lambda user: user.personas.delete(name))
    if as_json:
        print_json({"deleted": dataclass_json(deleted)})
    else:
        print(
            t(
                "persona.deleted",
                memories=deleted.memories,
                facts=deleted.facts,
                sessions=deleted.sessions,
                messages=deleted.messages,
            )
        )


@click.group()
def fact() -> None:
    """Facts between a user and a persona: list, set, retire, history."""


@fact.command("list")
@persona_option
@owner_option
@json_option
@lang_option
def list_facts(persona: str, owner: str, as_json: bool, t: Translator) -> None:
    """List the facts that are true now, most important first."""
    facts = run_for_user(owner, lambda user: user.canon.facts(persona, limit=MAX_PAGE))
    _print_facts(facts, as_json, t)


@fact.command("set")
@click.argument("category", type=click.Choice(CATEGORIES, case_sensitive=False))
@click.argument("key")
@click.argument("value")
@click.option("--importance", metavar="N", type=click.IntRange(1, 10), help="Importance, 1 to 10.")
@persona_option
@owner_option
@json_option
@lang_option
def set_fact(
    category: str,
    key: str,
    value: str,
    importance: int | None,
    persona: str,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Set a fact. It supersedes the one with that CATEGORY and KEY, which stays in the history."""
    change = run_for_user(
        owner, lambda user: user.canon.set_fact(persona, category, key, value, importance=importance)
    )
    if as_json:
        print_json(model_json(change))
    else:
        _print_facts([change.fact] if change.fact else [], as_json, t)


@fact.command()
@click.argument("root_id", metavar="ID", type=click.UUID)
@persona_option
@owner_option
@json_option
@lang_option
def retire(root_id: UUID, persona: str, owner: str, as_json: bool, t: Translator) -> None:
    """Retire the fact with this ID: it is no longer true. Its history stays."""
    change = run_for_user(owner, lambda user: user.canon.retire_fact(persona, root_id))
    if as_json:
        print_json(model_json(change))
    else:
        print(t("fact.retired"))


@fact.command()
@click.argument("root_id", metavar="ID", type=click.UUID)
@persona_option
@owner_option
@json_option
@lang_option
def history(root_id: UUID, persona: str, owner: str, as_json: bool, t: Translator) -> None:
    """Show all versions of the fact with this ID, oldest first. The active one has a star."""

    async def read(user: User) -> Sequence[FactVersion]:
        return await user.canon.history(persona, root_id, limit=MAX_PAGE)

    versions = run_for_user(owner, read)
    if as_json:
        print_json({"versions": [model_json(each) for each in versions]})
        return
    print_table(
        [t("persona.version"), t("fact.since"), t("fact.value")],
        [
            [
                f"{each.version} *" if each.is_active else str(each.version),
                f"{each.valid_from:%Y-%m-%d %H:%M}",
                one_line(each.value),
            ]
            for each in versions
        ],
    )


def _print_facts(facts: Sequence[Fact], as_json: bool, t: Translator) -> None:
    if as_json:
        print_json({"facts": [model_json(each) for each in facts]})
    elif not facts:
        print(t("fact.none"))
    else:
        print_table(
            [t("persona.id"), t("fact.category"), t("fact.key"), t("fact.value"), t("fact.since")],
            [
                [
                    str(each.root_id),
                    each.category,
                    one_line(each.key),
                    one_line(each.value),
                    f"{each.valid_from:%Y-%m-%d}",
                ]
                for each in facts
            ],
        )
