"""`gieok document`: list, search, show, put and delete the documents of a user."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from gieok.interfaces.cli.options import json_option, lang_option, run_for_user, user_option
from gieok.interfaces.cli.output import model_json, one_line, print_json, print_table, printable_lines
from gieok.interfaces.cli.texts import Translator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gieok.memory.documents.records import FoundDocument

owner_option = user_option("User whose documents are used.")
limit_option = click.option(
    "--limit", metavar="N", type=click.IntRange(1, 1_000), default=20, help="At most N documents."
)


class NamespaceParam(click.ParamType[tuple[str, ...]]):
    """Labels with `/` between them."""

    name = "namespace"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        return tuple(filter(None, str(value).split("/")))


class JsonObject(click.ParamType[dict[str, Any]]):
    """A JSON object; - reads standard input."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value  # pyright: ignore[reportUnknownVariableType]
        try:
            read = json.loads(sys.stdin.read() if value == "-" else value)
        except ValueError:
            self.fail("must be JSON", param, ctx)
        if not isinstance(read, dict):
            self.fail("must be a JSON object", param, ctx)
        return read  # pyright: ignore[reportUnknownVariableType]


@click.group()
def document() -> None:
    """Documents of a user: JSON that other tools store.

    A NAMESPACE is written with slashes: notes/work.
    """


@document.command("list")
@click.argument("namespace", type=NamespaceParam(), default="")
@limit_option
@owner_option
@json_option
@lang_option
def list_documents(namespace: tuple[str, ...], limit: int, owner: str, as_json: bool, t: Translator) -> None:
    """List documents below NAMESPACE, or all, last updated first."""
    found = run_for_user(owner, lambda user: user.documents.search(namespace, limit=limit, refresh_ttl=False))
    _print_found(found, as_json, t)


@document.command()
@click.argument("query")
@click.option("--namespace", type=NamespaceParam(), default="", help="Only documents below it: notes/work.")
@click.option("--filter", "wanted", type=JsonObject(), help='Values or operators by key: {"n": {"$gt": 1}}.')
@limit_option
@owner_option
@json_option
@lang_option
def search(
    query: str,
    namespace: tuple[str, ...],
    wanted: dict[str, Any] | None,
    limit: int,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Search documents by the words of QUERY, best first, with the words that matched."""
    found = run_for_user(
        owner,
        lambda user: user.documents.search(namespace, query, filter=wanted, limit=limit, refresh_ttl=False),
    )
    _print_found(found, as_json, t)


@document.command()
@click.argument("namespace", type=NamespaceParam())
@click.argument("key")
@click.option("--history", is_flag=True, help="Every version, oldest first.")
@owner_option
@json_option
@lang_option
def show(
    namespace: tuple[str, ...], key: str, history: bool, owner: str, as_json: bool, t: Translator
) -> None:
    """Print the document KEY in NAMESPACE as JSON."""
    from gieok.errors import NotFound

    if history:
        versions = run_for_user(owner, lambda user: user.documents.history(namespace, key))
        if as_json:
            print_json({"versions": [model_json(each) for each in versions]})
        else:
            for each in versions:
                print(f"v{each.version} [{each.created_at:%Y-%m-%d %H:%M}] {_value(dict(each.value))}")
        return
    found = run_for_user(owner, lambda user: user.documents.get(namespace, key, refresh_ttl=False))
    if found is None:
        raise NotFound(t("document.missing"))
    if as_json:
        print_json({"document": model_json(found)})
    else:
        print(printable_lines(json.dumps(dict(found.value), ensure_ascii=False, indent=2)))


@document.command()
@click.argument("namespace", type=NamespaceParam())
@click.argument("key")
@click.argument("value", type=JsonObject())
@click.option("--index", "paths", metavar="PATH", multiple=True, help="Search only this path of VALUE.")
@click.option("--ttl", metavar="SECONDS", type=click.FloatRange(0, min_open=True), help="Delete it after.")
@owner_option
@json_option
@lang_option
def put(
    namespace: tuple[str, ...],
    key: str,
    value: dict[str, Any],
    paths: tuple[str, ...],
    ttl: float | None,
    owner: str,
    as_json: bool,
    t: Translator,
) -> None:
    """Write VALUE, a JSON object or - for standard input, as KEY in NAMESPACE. Appends a version."""
    lifetime = None if ttl is None else timedelta(seconds=ttl)
    saved = run_for_user(
        owner, lambda user: user.documents.put(namespace, key, value, index=paths or None, ttl=lifetime)
    )
    if as_json:
        print_json({"document": model_json(saved)})
    else:
        print(t("document.saved", name=_name(saved.namespace, saved.key), version=saved.version))


@document.command()
@click.argument("namespace", type=NamespaceParam())
@click.argument("key")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@owner_option
@json_option
@lang_option
def delete(namespace: tuple[str, ...], key: str, yes: bool, owner: str, as_json: bool, t: Translator) -> None:
    """Delete the document KEY in NAMESPACE permanently, with all its versions."""
    from gieok.errors import NotFound

    if not yes:
        click.confirm(t("memory.confirm_delete"), abort=True, err=True)
    if not run_for_user(owner, lambda user: user.documents.delete(namespace, key)):
        raise NotFound(t("document.missing"))
    if as_json:
        print_json({"deleted": True})
    else:
        print(t("document.deleted", name=_name(namespace, key)))


def _print_found(found: Sequence[FoundDocument], as_json: bool, t: Translator) -> None:
    if as_json:
        print_json({"documents": [model_json(each) for each in found]})
        return
    if not found:
        print(t("document.none"))
        return
    headings = ("document.name", "document.version", "document.updated", "document.value")
    is_ranked = found[0].why is not None
    print_table(
        [*(t(heading) for heading in headings), *([t("document.words")] if is_ranked else [])],
        [
            [
                _name(each.namespace, each.key),
                str(each.version),
                f"{each.updated_at:%Y-%m-%d %H:%M}",
                _value(dict(each.value)),
                *([", ".join(each.why.matched_words)] if each.why else []),
            ]
            for each in found
        ],
    )


def _name(namespace: Sequence[str], key: str) -> str:
    return one_line(" ".join(("/".join(namespace), key)))


def _value(value: dict[str, Any]) -> str:
    return one_line(json.dumps(value, ensure_ascii=False), 60)
