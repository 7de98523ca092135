"""`gieok memory list`, `search` and `show`, and how memories are printed."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any, cast

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import one_line, print_fields, print_json, print_table, printable
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from gieok.memory.companion.hits import Hit
    from gieok.memory.companion.records import Memory
    from gieok.memory.companion.store import MemoryStatus

MAX_PAGE = 1_000
ORIGINS = ("summary", "manual", "excerpt")
"""The same values as in the records, which are too slow to import for `--help`. A test compares them."""
TIME = click.DateTime()


@click.command("list")
@click.option("--persona", metavar="ID", help="Only memories with this persona.")
@click.option(
    "--shelf",
    type=click.Choice(["active", "archived", "all"]),
    default="active",
    help="Active memories (default), archived ones, or all.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, MAX_PAGE), default=20, help="At most N memories."
)
@click.option("--offset", metavar="N", type=click.IntRange(0), default=0, help="Skip the first N memories.")
@click.option("--tag", metavar="TEXT", help="Only memories with this tag.")
@click.option("--topic", metavar="TEXT", help="Only memories with this topic.")
@click.option("--emotion", metavar="NAME", help="Only memories with this emotion, such as joy or 기쁨.")
@click.option("--origin", type=click.Choice(ORIGINS), help="Only memories that were made this way.")
@click.option("--from", "since", metavar="TIME", type=TIME, help="Only what happened at TIME or later.")
@click.option("--to", "until", metavar="TIME", type=TIME, help="Only what happened before TIME.")
@user_option("User whose memories are shown.")
@json_option
@lang_option
def list_memories(  # noqa: PLR0913, PLR0917  click passes each option as an argument
    persona: str | None,
    shelf: str,
    limit: int,
    offset: int,
    tag: str | None,
    topic: str | None,
    emotion: str | None,
    origin: str | None,
    since: datetime | None,
    until: datetime | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """List memories, newest first. TIME is in UTC, such as 2026-01-31 or 2026-01-31T18:00:00."""
    from gieok.app.cycles import validated
    from gieok.memory.companion.filters import MemoryFilter

    wanted = validated(
        MemoryFilter,
        tag=tag,
        topic=topic,
        emotion=emotion,
        origin=origin,
        since=since and since.replace(tzinfo=UTC),
        until=until and until.replace(tzinfo=UTC),
    )
    page = run_for_user(
        owner,
        lambda user: user.companion.list(
            persona, status=cast("MemoryStatus", shelf), wanted=wanted, limit=limit, offset=offset
        ),
    )
    if as_json:
        memories = [memory_json(each, t) for each in page.memories]
        print_json({"memories": memories, "total": page.total, "hasMore": page.has_more})
    elif not page.memories:
        print(t("memory.none"))
    else:
        print_table(headings(t), [row_of(each) for each in page.memories])
        print(t("memory.page", shown=len(page.memories), total=page.total))


@click.command()
@click.argument("query")
@click.option("--persona", metavar="ID", required=True, help="Search memories with this persona.")
@click.option("--limit", metavar="N", type=click.IntRange(1, MAX_PAGE), help="At most N hits.")
@click.option("--kinds", metavar="LIST", default="memory", help="memory, message, fact, with commas, or all.")
@click.option(
    "--min-confidence",
    metavar="N",
    type=click.FloatRange(0, 1),
    help="Leave out hits with less confidence (0 to 1).",
)
@user_option("User whose memories are searched.")
@json_option
@lang_option
def search(
    query: str,
    persona: str,
    limit: int | None,
    kinds: str,
    min_confidence: float | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Search memories for QUERY, best match first.

    With --kinds it finds messages and facts too.
    Shows for each hit which words matched.
    """
    from gieok.memory.companion.hits import check_kinds

    wanted = check_kinds(kinds)
    hits = run_for_user(
        owner,
        lambda user: user.companion.search(
            persona, query, kinds=wanted, limit=limit, min_confidence=min_confidence
        ),
    )
    if as_json:
        print_json({"memories": [_hit_json(hit, t) for hit in hits], "degraded": hits.degraded})
    elif not hits:
        print(t("memory.none"))
    else:
        print_table([t(name) for name in _HIT_HEADINGS], [_hit_row(hit, t) for hit in hits])
    if hits.degraded and not as_json:
        click.echo(t("memory.degraded", parts=", ".join(hits.degraded)), err=True)


@click.command()
@click.argument("memory_id", metavar="ID", type=click.UUID)
@user_option("User whose memory is shown.")
@json_option
@lang_option
def show(memory_id: UUID, owner: str, as_json: bool, t: Translator) -> None:
    """Show all fields of the memory with this ID."""
    found = run_for_user(owner, lambda user: user.companion.get(memory_id))
    if as_json:
        print_json({"memory": memory_json(found, t)})
        return
    print(f"{printable(found.summary)}\n")
    archived = f"{found.archived_at:%Y-%m-%d %H:%M} UTC" if found.archived_at else "-"
    print_fields(
        [
            (t("memory.id"), str(found.id)),
            (t("memory.persona"), found.persona_id),
            (t("memory.when"), f"{found.occurred_at:%Y-%m-%d %H:%M} UTC"),
            (t("memory.importance"), str(found.importance)),
            (t("memory.emotion"), found.emotion.korean if t.lang == "ko" else found.emotion),
            (t("memory.topics"), printable(", ".join(found.topics)) or "-"),
            (t("memory.tags"), printable(", ".join(found.tags)) or "-"),
            (t("memory.origin"), found.origin),
            (t("memory.session"), found.session_ref or "-"),
            (t("memory.archived"), archived),
        ]
    )


def why_text(hit: Hit, t: Translator) -> str:
    """The words that matched, and what was known of the message, if that led to it; without any, that the
    memory is recent or important."""
    matched = ", ".join(hit.why.matched_words)
    known = f" ({'; '.join(hit.why.known)})" if hit.why.known else ""
    return printable(matched + known) or t("memory.filled")


def memory_json(found: Memory, t: Translator) -> dict[str, Any]:
    """A memory in the form of the HTTP API."""
    return found.model_dump(mode="json", by_alias=True, context={"language": t.lang})


_HIT_HEADINGS = (
    "memory.score",
    "memory.confidence",
    "memory.kind",
    "memory.id",
    "memory.when",
    "memory.text",
    "memory.why",
)


def _hit_row(hit: Hit, t: Translator) -> list[str]:
    who = hit.speaker or hit.role
    return [
        f"{hit.score:.3f}",
        f"{hit.confidence:.2f}",
        hit.kind,
        hit.id,
        f"{hit.timestamp:%Y-%m-%d}",
        one_line(f"{who}: {hit.text}" if who else hit.text),
        why_text(hit, t),
    ]


def _hit_json(hit: Hit, t: Translator) -> dict[str, Any]:
    from gieok.interfaces.rest.schema.memory import found_item

    return found_item(hit).model_dump(mode="json", by_alias=True, context={"language": t.lang})


def headings(t: Translator) -> list[str]:
    keys = ("memory.id", "memory.persona", "memory.when", "memory.importance", "memory.summary")
    return [t(key) for key in keys]


def row_of(found: Memory) -> list[str]:
    return [
        str(found.id),
        found.persona_id,
        f"{found.occurred_at:%Y-%m-%d}",
        str(found.importance),
        one_line(found.summary),
    ]
