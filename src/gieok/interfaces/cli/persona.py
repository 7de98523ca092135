"""`gieok persona` and `gieok fact`: personas, and the facts between a user and a persona."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gieok.interfaces.cli.memory.data import new_file, open_file
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
    """Personas of a user: list, show, import, export, delete."""


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


@persona.command("import")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--persona", "name", metavar="ID", help="Persona that gets FILE as a new version.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and change nothing.")
@owner_option
@json_option
@lang_option
def import_persona(
    file: Path, name: str | None, dry_run: bool, owner: str, as_json: bool, t: Translator
) -> None:
    """Import a character card or a lorebook from FILE; - reads standard input.

    Cards V2 and V3 are read from PNG, JSON and CHARX. A lorebook (World Info) needs --persona. Fields that
    Gieok does not use are kept, and `gieok persona export` writes them again.
    """
    from gieok.adapters.imports.files import MAX_FILE_BYTES

    with open_file(file) as source:
        content = source.read(MAX_FILE_BYTES + 1)
    done = run_for_user(
        owner, lambda user: user.personas.import_file(content, persona_id=name, dry_run=dry_run)
    )
    if as_json:
        print_json(
            {
                "persona": model_json(done.persona),
                "lorebook": {"entries": done.entries},
                "kept": done.kept,
                "leftOut": done.left_out,
            }
        )
        return
    card = done.persona
    text = "persona.would_import" if dry_run else "persona.imported"
    print(t(text, name=one_line(card.name), id=card.id, version=card.version, n=done.entries))
    for key, names in (("persona.kept", done.kept), ("persona.left_out", done.left_out)):
        if names:
            print(t(key, names=one_line(", ".join(names))))


@persona.command("export")
@click.argument("name", metavar="PERSONA")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--image", type=click.Path(path_type=Path), metavar="PNG", help="Picture of the card, for a FILE.png."
)
@owner_option
@json_option
@lang_option
def export_persona(
    name: str, file: Path | None, image: Path | None, owner: str, as_json: bool, t: Translator
) -> None:
    """Export PERSONA as a character card V3, which SillyTavern and others read.

    A FILE that ends in .png is a picture with the card in it, any other FILE is JSON. Without FILE the JSON
    goes to standard output.
    """
    import sys

    is_png = file is not None and file.suffix.lower() == ".png"
    if image is not None and not is_png:
        raise click.UsageError("--image needs a FILE that ends in .png")
    picture = None
    if image is not None:
        with open_file(image) as source:
            picture = source.read()
    card = run_for_user(owner, lambda user: user.personas.export_card(name, png=is_png, image=picture))
    if file is None:
        sys.stdout.buffer.write(card + b"\n")
        return
    with new_file(file) as target:
        target.write(card)
    if as_json:
        print_json({"path": str(file), "bytes": len(card)})
    else:
        print(t("persona.exported", path=file))


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
