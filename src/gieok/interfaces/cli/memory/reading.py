"""`gieok memory list`, `search` and `show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import click

from gieok.interfaces.cli.asking import ask, owner_option
from gieok.interfaces.cli.harmless import one_line, printable
from gieok.interfaces.cli.output import (
    json_option,
    lang_option,
    print_facts,
    print_json,
    print_table,
)
from gieok.interfaces.cli.wording import Say

if TYPE_CHECKING:
    from uuid import UUID

    from gieok.memory.companion.records import Memory, MemoryHit
    from gieok.memory.companion.store import Shelf

MOST = 1_000

user_option = owner_option("Whose memory.")


@click.command("list")
@click.option("--persona", metavar="ID", help="Only memories with this persona.")
@click.option(
    "--shelf",
    type=click.Choice(["active", "archived", "all"]),
    default="active",
    help="Active ones (default), those that lost their place, or all.",
)
@click.option("--limit", metavar="N", type=click.IntRange(1, MOST), default=20, help="At most N of them.")
@click.option("--offset", metavar="N", type=click.IntRange(0), default=0, help="Leave out the first N.")
@user_option
@json_option
@lang_option
def list_memories(
    persona: str | None, shelf: str, limit: int, offset: int, owner: str, as_json: bool, say: Say
) -> None:
    """What is remembered, the newest first."""
    page = ask(
        owner,
        lambda user: user.companion.list(persona, shelf=cast("Shelf", shelf), limit=limit, offset=offset),
    )
    if as_json:
        memories = [_document(each, say) for each in page.memories]
        print_json({"memories": memories, "total": page.total, "hasMore": page.has_more})
    elif not page.memories:
        print(say("memory.none"))
    else:
        print_table(_headings(say), [_row(each) for each in page.memories])
        print(say("memory.page", shown=len(page.memories), total=page.total))


@click.command()
@click.argument("query")
@click.option("--persona", metavar="ID", required=True, help="Memories with this persona.")
@click.option("--limit", metavar="N", type=click.IntRange(1, MOST), help="At most N of them.")
@user_option
@json_option
@lang_option
def search(query: str, persona: str, limit: int | None, owner: str, as_json: bool, say: Say) -> None:
    """What answers QUERY, the best first, each with its reasons."""
    hits = ask(owner, lambda user: user.companion.search(persona, query, limit=limit))
    if as_json:
        print_json({"memories": [_found(hit, say) for hit in hits]})
    elif not hits:
        print(say("memory.none"))
    else:
        rows = [[f"{hit.score:.3f}", *_row(hit.memory), _why(hit, say)] for hit in hits]
        print_table([say("memory.score"), *_headings(say), say("memory.why")], rows)


@click.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@user_option
@json_option
@lang_option
def show(memory_id: UUID, owner: str, as_json: bool, say: Say) -> None:
    """All of the memory with this ID."""
    memory = ask(owner, lambda user: user.companion.get(memory_id))
    if as_json:
        print_json({"memory": _document(memory, say)})
        return
    print(f"{printable(memory.summary)}\n")
    archived = f"{memory.archived_at:%Y-%m-%d %H:%M} UTC" if memory.archived_at else "-"
    print_facts(
        [
            (say("memory.id"), str(memory.id)),
            (say("memory.persona"), memory.persona_id),
            (say("memory.when"), f"{memory.occurred_at:%Y-%m-%d %H:%M} UTC"),
            (say("memory.importance"), str(memory.importance)),
            (say("memory.emotion"), memory.emotion.korean if say.lang == "ko" else memory.emotion),
            (say("memory.topics"), printable(", ".join(memory.topics)) or "-"),
            (say("memory.tags"), printable(", ".join(memory.tags)) or "-"),
            (say("memory.origin"), memory.origin),
            (say("memory.session"), memory.session_ref or "-"),
            (say("memory.archived"), archived),
        ]
    )


def _document(memory: Memory, say: Say) -> dict[str, Any]:
    """A memory as the HTTP service tells it."""
    from gieok.interfaces.rest.schema.memory import memory_view

    return memory_view(memory, korean=say.lang == "ko").model_dump(mode="json", by_alias=True)


def _found(hit: MemoryHit, say: Say) -> dict[str, Any]:
    from gieok.interfaces.rest.schema.memory import hit_view

    return hit_view(hit, korean=say.lang == "ko").model_dump(mode="json", by_alias=True)


def _headings(say: Say) -> list[str]:
    names = ("memory.id", "memory.persona", "memory.when", "memory.importance", "memory.summary")
    return [say(name) for name in names]


def _row(memory: Memory) -> list[str]:
    return [
        str(memory.id),
        memory.persona_id,
        f"{memory.occurred_at:%Y-%m-%d}",
        str(memory.importance),
        one_line(memory.summary),
    ]


def _why(hit: MemoryHit, say: Say) -> str:
    return printable(", ".join(hit.why.matched_words)) or say("memory.filled")
